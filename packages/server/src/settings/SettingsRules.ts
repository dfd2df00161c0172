/**
 * Conditions on several settings; each rule is a sentence for the operator. Pure: the environment has been read.
 *
 * Pitfall: testing a value for its default to learn whether a variable was given. A variable that is malformed has its
 * default too, and a rule would fire because another value was mistyped; rules about presence ask `given`.
 */
import { defaultRunnerSettings } from "@narthex/core"
import type { OpenIdProvider } from "@narthex/http"
import { Duration } from "effect"
import { type Circumstances, modeOf, publicBecause } from "./mode.ts"
import type { Reading } from "./readVariables.ts"
import type { Values } from "./Variable.ts"
import type { variables } from "./variables.ts"

type Read = Values<typeof variables>

/**
 * Whether the development providers run: if they are asked for, or in development while no other provider is configured.
 * Anyone who can reach them can sign in as anyone.
 */
export const wantsDevProviders = (values: Read, circumstances: Circumstances): boolean =>
  values.dev_providers.mode === null
    ? modeOf(values, circumstances).name === "development" && (values.providers ?? []).length === 0
    : values.dev_providers.mode !== "false"

export const brokenRules = (
  { given, values }: Reading<typeof variables>,
  circumstances: Circumstances
): ReadonlyArray<string> => [
  ...storeRules(values, given),
  ...proxyRules(values, given),
  ...devProviderRules(values, circumstances),
  ...providerRules(values.providers ?? []),
  ...platformRules(values, given),
  ...(circumstances.standalone ? portRules(values, circumstances) : [])
]

const when = (broken: boolean, sentence: string) => (broken ? [sentence] : [])

const storeRules = ({ database }: Read, given: ReadonlySet<string>) => [
  ...when(
    given.has("DATABASE_URL") && !given.has("NARTHEX_MASTER_SECRET"),
    "NARTHEX_MASTER_SECRET must be given with DATABASE_URL, because all instances share it: 32 random bytes as base64url."
  ),
  ...when(
    given.has("DATABASE_LISTEN_URL") && database.listen_url !== "off" && !given.has("DATABASE_URL"),
    "DATABASE_LISTEN_URL is given without DATABASE_URL; the embedded Postgres needs neither."
  )
]

const proxyRules = ({ proxy }: Read, given: ReadonlySet<string>) => [
  ...when(
    given.has("NARTHEX_PROXY_TLS_CERT") !== given.has("NARTHEX_PROXY_TLS_KEY"),
    "NARTHEX_PROXY_TLS_CERT and NARTHEX_PROXY_TLS_KEY must be given together."
  ),
  ...when(
    proxy.tls_required && !given.has("NARTHEX_PROXY_TLS_CERT"),
    "NARTHEX_PROXY_TLS_REQUIRED is on without a certificate; set NARTHEX_PROXY_TLS_CERT and NARTHEX_PROXY_TLS_KEY."
  )
]

const devProviderRules = (values: Read, { production, standalone }: Circumstances) => {
  const { mode } = values.dev_providers
  const on = mode === "true" || mode === "insecure"
  const [reached] = publicBecause(values)
  return [
    ...when(
      on && !standalone,
      "NARTHEX_DEV_PROVIDERS: only `npm start` runs development providers; set NARTHEX_PROVIDERS instead."
    ),
    ...when(on && production, "NARTHEX_DEV_PROVIDERS must not be on with NODE_ENV=production: they sign anyone in."),
    ...when(
      mode === "true" && reached !== undefined,
      `NARTHEX_DEV_PROVIDERS must not be "true" while ${reached}: the development providers sign anyone in. To allow it, set "insecure".`
    )
  ]
}

const providerRules = (providers: ReadonlyArray<OpenIdProvider>) => {
  const ids = providers.map(({ id }) => id)
  // Two providers of one issuer are distinguished by the audience of the id token.
  const audiences = providers.flatMap(({ client_ids, issuer }) => client_ids.map((client) => `${issuer} ${client}`))
  return [
    ...repeated(ids).map((id) => `NARTHEX_PROVIDERS names the provider "${id}" twice.`),
    ...repeated(audiences).map((both) => {
      const [issuer = "", client = ""] = both.split(" ")
      return `NARTHEX_PROVIDERS gives the client id "${client}" of the issuer ${issuer} twice.`
    })
  ]
}

/** Longer than a lease, so that a runner that is only slow is not killed. */
const shortestPatience = Duration.sum(defaultRunnerSettings.lease, Duration.seconds(10))

const platformRules = ({ compute, compute_standby, regions, static_computes }: Read, given: ReadonlySet<string>) => [
  ...when(
    compute_standby !== null && Duration.isLessThan(compute_standby, shortestPatience),
    `NARTHEX_COMPUTE_STANDBY must be at least ${Duration.format(shortestPatience)}.`
  ),
  ...repeated(regions).map((id) => `NARTHEX_REGIONS names "${id}" twice.`),
  ...when(
    compute === "static" && !given.has("NARTHEX_STATIC_COMPUTES"),
    "NARTHEX_STATIC_COMPUTES must be given with NARTHEX_COMPUTE=static."
  ),
  ...when(
    compute === "kubernetes" && !given.has("NARTHEX_KUBERNETES"),
    "NARTHEX_KUBERNETES must be given with NARTHEX_COMPUTE=kubernetes."
  ),
  ...repeated((static_computes ?? []).map(({ address }) => address)).map(
    (address) => `NARTHEX_STATIC_COMPUTES names ${address} twice; each is one server.`
  )
]

/** In one process every listener needs a port of its own; 0 is a different one each time. */
const portRules = (values: Read, circumstances: Circumstances) => {
  const [one, two] = values.dev_providers.ports
  const listeners: ReadonlyArray<readonly [name: string, host: string, port: number]> = [
    ["NARTHEX_API_PORT", values.api.host, values.api.port],
    ["NARTHEX_CONSOLE_PORT", values.console.host, values.console.port],
    ["NARTHEX_PROXY_PORT", values.proxy.host, values.proxy.port],
    ["NARTHEX_ADMIN_PORT", values.admin.host, values.admin.port],
    ...(wantsDevProviders(values, circumstances)
      ? ([
          ["NARTHEX_DEV_PROVIDER_PORTS (first)", "127.0.0.1", one],
          ["NARTHEX_DEV_PROVIDER_PORTS (second)", "127.0.0.1", two]
        ] as const)
      : [])
  ]
  return listeners.flatMap(([name, host, port], index) =>
    listeners
      .slice(0, index)
      .filter(([, otherHost, other]) => port !== 0 && other === port && otherHost === host)
      .map(([other]) => `${other} and ${name} are both ${port}; each needs a port of its own.`)
  )
}

function repeated(all: ReadonlyArray<string>): ReadonlyArray<string> {
  return [...new Set(all.filter((each, index) => all.indexOf(each) !== index))]
}
