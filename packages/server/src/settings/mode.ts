/**
 * The mode of the machine: one developer's, or a server for others (docs/design/settings.md S5). Development providers
 * sign anyone in, so they run in development alone, and limits are off there alone.
 *
 * Pitfall: deciding by the listeners. Behind a TLS terminator on the same machine, everything listens on loopback and
 * serves the public.
 */
import { isLoopbackHost } from "@narthex/http"
import type { Values } from "./Variable.ts"
import type { variables } from "./variables.ts"

export interface Circumstances {
  /** `true`: every part runs in this process (`npm start`). `false`: this is one process of several. */
  readonly standalone: boolean
  /** `NODE_ENV` is `production`. */
  readonly production: boolean
}

export interface Mode {
  readonly name: "development" | "production"
  /** Phrases for the operator; at least one. */
  readonly because: ReadonlyArray<string>
}

type Read = Pick<Values<typeof variables>, "api" | "console" | "proxy" | "trusted_hops">

/** Why others than this machine's own users can reach the process; empty if they cannot. */
export const publicBecause = ({ api, console, proxy, trusted_hops }: Read): ReadonlyArray<string> => {
  const listeners = [
    ["NARTHEX_API_HOST", api.host],
    ["NARTHEX_CONSOLE_HOST", console.host],
    ["NARTHEX_PROXY_HOST", proxy.host]
  ] as const
  const urls = [
    ["NARTHEX_API_URL", api.url],
    ["NARTHEX_CONSOLE_URL", console.url]
  ] as const
  return [
    ...listeners.flatMap(([name, host]) => (isLoopbackHost(host) ? [] : [`${name} listens beyond loopback`])),
    ...urls.flatMap(([name, url]) =>
      url === null || isLoopbackHost(new URL(url).hostname) ? [] : [`${name} is beyond loopback`]
    ),
    ...(trusted_hops > 0 ? ["NARTHEX_TRUSTED_HOPS says that reverse proxies stand in front"] : [])
  ]
}

export const modeOf = (values: Read, { production, standalone }: Circumstances): Mode => {
  const because = [
    ...(production ? ["NODE_ENV is production"] : []),
    ...(standalone ? [] : ["this is one process of several, not `npm start`"]),
    ...publicBecause(values)
  ]
  return because.length > 0
    ? { name: "production", because }
    : { name: "development", because: ["everything listens on loopback, and nothing stands in front of it"] }
}

/** One line: the mode, why, and what follows from it. */
export const modeText = (settings: {
  readonly mode: Mode
  readonly dev_providers: object | null
  readonly limits: object | null
}): string =>
  `${settings.mode.name} (${settings.mode.because.join("; ")}): development providers ${
    settings.dev_providers === null ? "off" : "on"
  }, rate and stream limits ${settings.limits === null ? "off" : "on"}`
