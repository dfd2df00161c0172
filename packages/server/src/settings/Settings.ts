/**
 * The settings of the bundled server, from the environment alone (docs/design/settings.md S1, S2).
 *
 * All mistakes are reported together, as sentences, and then nothing starts. Values, names and defaults derive from the
 * table of variables; what depends on several variables, or on how the process was started, is decided here. `null`
 * means that a part is off, or is found or generated when the platform is composed; the member's comment says which.
 */
import { resolve } from "node:path"
import { defaultQuotas, type QuotaSettings } from "@narthex/core"
import type { OpenIdProvider } from "@narthex/http"
import { Config, Effect, Option, type Redacted, Schema } from "effect"
import { type Circumstances, type Mode, modeOf } from "./mode.ts"
import { type Reading, readVariables } from "./readVariables.ts"
import { brokenRules, wantsDevProviders } from "./SettingsRules.ts"
import { unknownVariables } from "./unknownVariables.ts"
import type { Values } from "./Variable.ts"
import { variables } from "./variables.ts"

type Given = Values<typeof variables>

/** The members that depend on more than their own variable. */
interface Decided {
  /** Whether every part runs in this process (`npm start`). */
  readonly standalone: boolean
  /** The mode of the machine, and why. */
  readonly mode: Mode
  /** `null`: the embedded Postgres under the data directory. */
  readonly database: { readonly url: Redacted.Redacted; readonly listen_url: Redacted.Redacted } | null
  /** `false`: new events are found by polling alone, with the embedded Postgres too. */
  readonly listen: boolean
  /** Absolute. */
  readonly data_dir: string
  readonly proxy: Omit<Given["proxy"], "tls_cert" | "tls_key" | "tls_required"> & {
    /** The paths of PEM files; `null`: plaintext only. */
    readonly tls: { readonly cert: string; readonly key: string; readonly required: boolean } | null
  }
  readonly providers: ReadonlyArray<OpenIdProvider>
  readonly static_computes: NonNullable<Given["static_computes"]>
  /** `null`: they do not run. Where they are asked for, they are offered in addition to the configured providers. */
  readonly dev_providers: { readonly ports: readonly [number, number] } | null
  /** The documented ones, but for those that are given. */
  readonly quotas: QuotaSettings
  /** `null`: every limit is off. */
  readonly limits: Given["limits"] | null
  readonly log: Given["log"] & { readonly format: "pretty" | "json" }
  /** `null`: off. The exporter reads the other variables of OpenTelemetry itself. */
  readonly telemetry: { readonly endpoint: string; readonly headers: Redacted.Redacted | null } | null
  /** Sentences about variables that are set and have no effect. */
  readonly warnings: ReadonlyArray<string>
}

/**
 * `master_secret`, `console.token` and `proxy.token` that are `null` are generated with the embedded Postgres.
 * `api.url` and `console.url` that are `null` are derived with `urlOf` once the port is known. A `postgres_bin` that is
 * `null` is searched for.
 */
export interface Settings extends Decided, Omit<Given, keyof Decided | "rate_limits"> {}

export interface Listener {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
}

/** The settings are invalid. Each mistake is a sentence; none holds a value that is secret. */
export class InvalidSettings extends Schema.TaggedError<InvalidSettings>()("InvalidSettings", {
  mistakes: Schema.Array(Schema.String)
}) {
  override get message() {
    return `The settings are invalid:\n${this.mistakes.map((mistake) => `  - ${mistake}`).join("\n")}`
  }
}

/** The URL of a listener that was given none: its port is the one that it got. */
export const urlOf = ({ host, port }: Listener): string => {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`
}

export interface SettingsOptions {
  /** `true`: every part runs in this process (`npm start`). `false`: this is one process of several. */
  readonly standalone: boolean
  /** Whether stdout is a terminal, which people read. */
  readonly terminal: boolean
}

/** Reads and checks the environment. Fails with every mistake at once. */
export const loadSettings = Effect.fn("loadSettings")(function* ({ standalone, terminal }: SettingsOptions) {
  const mode = yield* Config.option(Config.String("NODE_ENV")).pipe(
    Effect.mapError((error) => new InvalidSettings({ mistakes: [`NODE_ENV cannot be read: ${error.message}.`] }))
  )
  const circumstances = { standalone, production: Option.contains(mode, "production") }
  const reading = yield* readVariables(variables)
  const mistakes = [...reading.mistakes, ...brokenRules(reading, circumstances)]
  if (mistakes.length > 0) return yield* new InvalidSettings({ mistakes })
  const warnings = yield* Effect.orElseSucceed(unknownVariables(variables), () => [])
  return { ...decided(reading, circumstances, terminal), warnings }
})

const decided = (
  { values }: Reading<typeof variables>,
  circumstances: Circumstances,
  terminal: boolean
): Omit<Settings, "warnings"> => {
  const { database, log, proxy, rate_limits, telemetry, ...rest } = values
  const { tls_cert, tls_key, tls_required, ...listener } = proxy
  const files = tls_cert === null || tls_key === null ? null : { cert: tls_cert, key: tls_key }
  const listenUrl = database.listen_url === "off" ? null : database.listen_url
  const mode = modeOf(values, circumstances)
  const unlimited = rate_limits === null ? mode.name === "development" : rate_limits === "off"
  return {
    ...rest,
    standalone: circumstances.standalone,
    mode,
    database: database.url === null ? null : { url: database.url, listen_url: listenUrl ?? database.url },
    listen: database.listen_url !== "off",
    data_dir: resolve(values.data_dir),
    proxy: { ...listener, tls: files === null ? null : { ...files, required: tls_required } },
    providers: values.providers ?? [],
    static_computes: values.static_computes ?? [],
    dev_providers: wantsDevProviders(values, circumstances) ? { ports: values.dev_providers.ports } : null,
    quotas: { ...defaultQuotas, ...values.quotas },
    limits: unlimited ? null : values.limits,
    log: { ...log, format: log.format ?? (terminal ? "pretty" : "json") },
    telemetry: telemetry.endpoint === null ? null : { endpoint: telemetry.endpoint, headers: telemetry.headers }
  }
}
