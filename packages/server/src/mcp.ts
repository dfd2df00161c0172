/**
 * The door of agents, `/mcp` (docs/design/mcp.md), where the proxy runs in the process of the API. Statements go through
 * that proxy on behalf of the agent's address, so the project's allowlist holds for agents as for everybody.
 */
import { NarthexClient } from "@narthex/api"
import { DirectApi, inOwnForm, originOf } from "@narthex/http"
import { layerHttp } from "@narthex/mcp"
import { Effect, Layer, Redacted } from "effect"
import { HttpClient, type HttpServerRequest } from "effect/http"
import { type Addresses, hostPort } from "./addresses.ts"
import type { ProxyState } from "./proxy.ts"
import type { Tokens } from "./references.ts"
import type { Settings } from "./settings/Settings.ts"
import { version } from "./version.ts"

/** The path of the door, on the listener of the API. */
export const mcpPath = "/mcp"

interface Place {
  readonly settings: Pick<Settings, "trusted_hops">
  readonly addresses: Pick<Addresses, "api">
}

/** An address that no rule lists, for a client whose address is not known: an allowlist refuses it. */
const unknownClient = "0.0.0.0"

/** The names of this machine for the listener, and the public one. */
const hostsOf = ({ host, port, url }: Addresses["api"]) => [
  ...new Set([new URL(url).host, hostPort({ host, port }), `localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
]

/** The API takes these headers only with the console's token, so without one none is sent. */
const reporting = (token: Tokens["console"], address: string | null): Readonly<Record<string, string>> =>
  token === null || address === null
    ? {}
    : { "narthex-console": Redacted.value(token), "narthex-client-address": address }

export const layerMcp = ({ addresses, settings }: Place, token: Tokens["console"], proxy: ProxyState) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const client = yield* NarthexClient.pipe(
        Effect.provide(NarthexClient.layer({ baseUrl: addresses.api.url, headers: { "user-agent": "narthex-mcp" } })),
        Effect.provideService(HttpClient.HttpClient, yield* DirectApi)
      )
      const rules = { trusted_hops: settings.trusted_hops, console_token: null }
      return layerHttp({
        client,
        version,
        path: mcpPath,
        hosts: hostsOf(addresses.api),
        clientOf: (request: HttpServerRequest.HttpServerRequest) => {
          const { address } = originOf(request, rules)
          return { address, headers: reporting(token, address) }
        },
        ofProtocol: inOwnForm,
        dial: (address) => ({
          // The peer is this process, so its certificate needs no proof.
          verifies: false,
          socket: () => connectTo(proxy, address ?? unknownClient)
        })
      })
    })
  )

const connectTo = ({ connect }: ProxyState, client: string) => {
  if (connect === undefined) throw new Error("The proxy of this process has not started.")
  return connect(client)
}
