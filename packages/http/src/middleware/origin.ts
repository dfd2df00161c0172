/** Where a request comes from, by the rules of `ClientAddress`. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { type ClientOrigin, clientOrigin } from "../ClientAddress.ts"
import { ServerIdentity } from "../ServerIdentity.ts"

export const requestOrigin: Effect.Effect<ClientOrigin, never, HttpServerRequest.HttpServerRequest> = Effect.gen(
  function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { origin } = yield* ServerIdentity
    const { socket } = NodeHttpServerRequest.toIncomingMessage(request)
    return clientOrigin({ socket_address: socket.remoteAddress, headers: request.headers }, origin)
  }
)

/** The credential in the `Authorization` header; `undefined` without one, or with another scheme than Bearer. */
export const bearer = (header: string | undefined): string | undefined => /^bearer +(\S+) *$/i.exec(header ?? "")?.[1]
