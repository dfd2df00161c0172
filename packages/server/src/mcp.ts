/**
 * The door of agents, `/mcp` (docs/design/mcp.md). Statements go through the proxy of the process of the API, or through
 * another one that trusts it, on behalf of the agent's address: the project's allowlist holds for agents as for all clients.
 */
import { connect } from "node:net"
import { NarthexClient } from "@narthex/api"
import { DirectApi, inOwnForm, originOf } from "@narthex/http"
import { type Dial, layerHttp } from "@narthex/mcp"
import { proxyHeaderOf } from "@narthex/proxy"
import { Effect, Layer, Redacted } from "effect"
import { HttpClient, type HttpServerRequest } from "effect/http"
import { type Addresses, hostPort } from "./addresses.ts"
import type { ProxyState } from "./proxy.ts"
import type { Tokens } from "./references.ts"
import type { Listener, Settings } from "./settings/Settings.ts"
import { version } from "./version.ts"

/** The path of the door, on the listener of the API. */
export const mcpPath = "/mcp"

interface Place {
  readonly settings: Pick<Settings, "mcp_proxy" | "trusted_hops">
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
        dial: (address) => {
          const client = address ?? unknownClient
          return settings.mcp_proxy === null ? within(proxy, client) : onBehalfOf(client, settings.mcp_proxy)
        }
      })
    })
  )

/** Through the proxy of this process. Its certificate needs no proof. */
const within = (proxy: ProxyState, client: string): Dial => ({
  verifies: false,
  socket: () => {
    if (proxy.connect === undefined) throw new Error("The proxy of this process has not started.")
    return proxy.connect(client)
  }
})

/** Through a proxy that trusts this machine. Its certificate is for the host of the connection string. */
export const onBehalfOf = (client: string, { host, port }: Listener): Dial => ({
  verifies: true,
  socket: () => {
    const socket = connect({ host, port, noDelay: true })
    const header = proxyHeaderOf(client) ?? proxyHeaderOf(unknownClient)
    if (header !== undefined) socket.write(header)
    return socket
  }
})
