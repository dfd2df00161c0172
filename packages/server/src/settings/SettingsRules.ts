/**
 * What the settings must be together, each rule a sentence for the operator. Pure: the environment has been read.
 *
 * Pitfall: a rule that fires because another value was mistyped. A variable that is given but malformed is `undefined`
 * among the values and present among the `given`; rules about presence ask there.
 */
import { isLoopbackHost, type OpenIdProvider } from "@narthex/http"
import type { Reading, Values } from "./readVariables.ts"
import type { variables } from "./variables.ts"

export interface Circumstances {
  /** Is it the whole platform in one process? */
  readonly standalone: boolean
  readonly production: boolean
}

type Read = Values<typeof variables>

/** Do API, console and proxy listen on this machine alone? */
export const listensOnLoopback = ({ api_host, console_host, proxy_host }: Read): boolean =>
  [api_host, console_host, proxy_host].every((host) => host === undefined || isLoopbackHost(host))

/** Are the development identity providers wanted? Whoever reaches them is anybody. */
export const wantsDevProviders = (values: Read, { production, standalone }: Circumstances): boolean =>
  values.dev_providers === undefined
    ? standalone && !production && listensOnLoopback(values)
    : values.dev_providers !== "false"

export const brokenRules = (
  { given, values }: Reading<typeof variables>,
  circumstances: Circumstances
): ReadonlyArray<string> => [
  ...storeRules(values, given),
  ...proxyRules(given),
  ...devProviderRules(values, circumstances),
  ...providerRules(values.providers ?? []),
  ...platformRules(values, given),
  ...(circumstances.standalone ? portRules(values, circumstances) : [])
]

const when = (broken: boolean, sentence: string) => (broken ? [sentence] : [])

const has = (given: ReadonlySet<string>, name: string) => given.has(name)

const storeRules = ({ database_listen_url: listen }: Read, given: ReadonlySet<string>) => [
  ...when(
    has(given, "DATABASE_URL") && !has(given, "NARTHEX_MASTER_SECRET"),
    "NARTHEX_MASTER_SECRET must be given with DATABASE_URL, because all instances share it: 32 random bytes as base64url."
  ),
  ...when(
    has(given, "DATABASE_LISTEN_URL") && listen !== "off" && !has(given, "DATABASE_URL"),
    "DATABASE_LISTEN_URL is given without DATABASE_URL; the embedded Postgres needs neither."
  )
]

const proxyRules = (given: ReadonlySet<string>) =>
  when(
    has(given, "NARTHEX_PROXY_TLS_CERT") !== has(given, "NARTHEX_PROXY_TLS_KEY"),
    "NARTHEX_PROXY_TLS_CERT and NARTHEX_PROXY_TLS_KEY must be given together."
  )

const devProviderRules = (values: Read, { production, standalone }: Circumstances) => {
  const asked = values.dev_providers === "true" || values.dev_providers === "insecure"
  const ports = values.dev_provider_ports
  return [
    ...when(
      asked && !standalone,
      "NARTHEX_DEV_PROVIDERS: only the standalone platform has development providers; give NARTHEX_PROVIDERS here."
    ),
    ...when(asked && production, "NARTHEX_DEV_PROVIDERS must not be on with NODE_ENV=production: they sign anyone in."),
    ...when(
      values.dev_providers === "true" && !listensOnLoopback(values),
      'NARTHEX_DEV_PROVIDERS must not be "true" while the API, the console or the proxy listens beyond loopback: the development providers sign anyone in. If that is wanted, it is spelled "insecure".'
    ),
    ...when(ports !== undefined && ports.length !== 2, "NARTHEX_DEV_PROVIDER_PORTS must be two ports.")
  ]
}

const providerRules = (providers: ReadonlyArray<OpenIdProvider>) => {
  const ids = providers.map(({ id }) => id)
  // Audiences decide between providers of one issuer.
  const audiences = providers.flatMap(({ client_ids, issuer }) => client_ids.map((client) => `${issuer} ${client}`))
  return [
    ...repeated(ids).map((id) => `NARTHEX_PROVIDERS names the provider "${id}" twice.`),
    ...repeated(audiences).map((both) => {
      const [issuer = "", client = ""] = both.split(" ")
      return `NARTHEX_PROVIDERS gives the client id "${client}" of the issuer ${issuer} twice.`
    })
  ]
}

const platformRules = ({ compute, regions }: Read, given: ReadonlySet<string>) => [
  ...repeated(regions ?? []).map((id) => `NARTHEX_REGIONS names "${id}" twice.`),
  ...when(
    compute === "static" && !has(given, "NARTHEX_STATIC_ENDPOINTS"),
    "NARTHEX_STATIC_ENDPOINTS must be given with NARTHEX_COMPUTE=static."
  )
]

/** In one process every listener needs a port of its own; 0 is a different one each time. */
const portRules = (values: Read, circumstances: Circumstances) => {
  const [one = 4402, two = 4403] = values.dev_provider_ports ?? []
  const listeners = [
    ["NARTHEX_API_PORT", values.api_host, values.api_port ?? 4400],
    ["NARTHEX_CONSOLE_PORT", values.console_host, values.console_port ?? 4401],
    ["NARTHEX_PROXY_PORT", values.proxy_host, values.proxy_port ?? 5442],
    ["NARTHEX_ADMIN_PORT", values.admin_host, values.admin_port ?? 4409],
    ...(wantsDevProviders(values, circumstances)
      ? ([
          ["NARTHEX_DEV_PROVIDER_PORTS (first)", undefined, one],
          ["NARTHEX_DEV_PROVIDER_PORTS (second)", undefined, two]
        ] as const)
      : [])
  ] as const
  return listeners.flatMap(([name, host = loopback, port], index) =>
    listeners
      .slice(0, index)
      .filter((other) => port !== 0 && other[2] === port && (other[1] ?? loopback) === host)
      .map((other) => `${other[0]} and ${name} are both ${port}; each needs a port of its own.`)
  )
}

const loopback = "127.0.0.1"

function repeated(all: ReadonlyArray<string>): ReadonlyArray<string> {
  return [...new Set(all.filter((one, index) => all.indexOf(one) !== index))]
}
