/**
 * Facts about the server that handlers and middleware run in: plain values, which the composition reads from the
 * environment.
 */
import { defaultEventSettings } from "@narthex/core"
import { Context, type Duration, Effect, Option, type Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { type ClientOrigin, clientOrigin, type OriginRules } from "./ClientAddress.ts"

export interface ServerFacts {
  readonly console_url: string | null
  readonly origin: OriginRules
  /** The token that proxies send to `/v1/proxy/*`; `null`: every such call is refused. */
  readonly proxy_token: Redacted.Redacted | null
  /** The newest version of the command line that this server knows. */
  readonly cli_latest: string
  readonly heartbeat: Duration.Duration
}

export const ServerIdentity = Context.Reference<ServerFacts>("@narthex/http/ServerIdentity", {
  defaultValue: () => ({
    console_url: null,
    origin: { trusted_hops: 0, console_token: null },
    proxy_token: null,
    cli_latest: "0.1.0",
    heartbeat: defaultEventSettings.heartbeat
  })
})

/** Where a request comes from, by the rules of its server. */
export const originOf = (
  { headers, peerAddress }: HttpServerRequest.HttpServerRequest,
  rules: OriginRules
): ClientOrigin => clientOrigin({ socket_address: Option.getOrUndefined(peerAddress), headers }, rules)

/** Where the running request comes from. */
export const requestOrigin: Effect.Effect<ClientOrigin, never, HttpServerRequest.HttpServerRequest> = Effect.flatMap(
  HttpServerRequest.HttpServerRequest,
  (request) => Effect.map(ServerIdentity, ({ origin }) => originOf(request, origin))
)
