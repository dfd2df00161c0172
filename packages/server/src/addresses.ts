/**
 * The addresses of all listeners, decided before any part starts: the parts reach each other by address, and the API's
 * URL is in every session token.
 */
import { Effect } from "effect"
import { freePort } from "./freePort.ts"
import { type Listener, type Settings, urlOf } from "./settings/Settings.ts"

export interface Addresses {
  readonly api: Listener & { readonly url: string }
  readonly console: Listener & { readonly url: string }
  readonly proxy: Listener
  readonly admin: Listener
  readonly dev_providers: readonly [number, number] | null
}

/** `host:port` as clients write it: an IPv6 address in brackets. */
export const hostPort = ({ host, port }: Listener) => `${host.includes(":") ? `[${host}]` : host}:${port}`

const settled = ({ host, port }: Listener) =>
  Effect.map(port === 0 ? freePort(host) : Effect.succeed(port), (free) => ({ host, port: free }))

/** The addresses of the settings, with a free port for each port 0. */
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
