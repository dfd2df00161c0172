/**
 * Where everything listens, settled before anything starts: the parts know each other by address, and the API's own
 * URL is in every token that it signs.
 *
 * A port of 0 is asked for and given back at once, so another process could take it in between; then the part that
 * wanted it fails to listen and says so.
 */
import { createServer } from "node:net"
import { type Listener, type Settings, urlOf } from "@narthex/http"
import { Effect } from "effect"

export interface Addresses {
  readonly api: Listener & { readonly url: string }
  readonly console: Listener & { readonly url: string }
  readonly proxy: Listener
  readonly admin: Listener
  readonly dev_providers: readonly [number, number] | null
}

const freePort = (host: string) =>
  Effect.callback<number>((resume) => {
    const server = createServer()
    server.once("error", (cause) => resume(Effect.die(cause)))
    server.listen(0, host, () => {
      const address = server.address()
      server.close(() =>
        resume(
          typeof address === "object" && address !== null
            ? Effect.succeed(address.port)
            : Effect.die(new Error("A free port could not be found."))
        )
      )
    })
  })

const settled = ({ host, port }: Listener) =>
  Effect.map(port === 0 ? freePort(host) : Effect.succeed(port), (free) => ({ host, port: free }))

export const settleAddresses = Effect.fnUntraced(function* (settings: Settings) {
  const api = yield* settled(settings.api)
  const web = yield* settled(settings.console)
  const loopback = "127.0.0.1"
  const ports = settings.dev_providers?.ports
  return {
    api: { ...api, url: settings.api.url ?? urlOf(api) },
    console: { ...web, url: settings.console.url ?? urlOf(web) },
    proxy: yield* settled(settings.proxy),
    admin: yield* settled(settings.admin),
    dev_providers:
      ports === undefined
        ? null
        : ([
            (yield* settled({ host: loopback, port: ports[0] })).port,
            (yield* settled({ host: loopback, port: ports[1] })).port
          ] as const)
  } satisfies Addresses
})
