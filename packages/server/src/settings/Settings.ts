/**
 * The settings of the server and of the standalone platform, from the environment and from nowhere else.
 *
 * All mistakes are told at once, as sentences, and then nothing starts. `null` means that a thing is off or is to be
 * found or made by whoever composes the platform; the field's comment says which.
 */
import { resolve } from "node:path"
import type { AccessSettings, Cidr, SessionSettings } from "@narthex/core"
import { Config, Duration, Effect, type LogLevel, Option, type Redacted, Schema } from "effect"
import type { OpenIdProvider } from "@narthex/http"
import { type Reading, readVariables } from "./readVariables.ts"
import { brokenRules, type Circumstances, listensOnLoopback, wantsDevProviders } from "./SettingsRules.ts"
import { variables } from "./variables.ts"

export interface Limits {
  readonly exchange_per_minute: number
  readonly cli_exchange_per_minute: number
  readonly failures_per_minute: number
  readonly reports_per_hour: number
  readonly refresh_per_minute: number
  readonly key_creation_per_hour: number
  readonly keys: number
  readonly streams: number
  readonly org_streams: number
  readonly instance_streams: number
  readonly stream_opens_per_second: number
}

export interface Settings {
  readonly standalone: boolean
  /** `null`: the embedded Postgres under the data directory. */
  readonly database: { readonly url: Redacted.Redacted; readonly listen_url: Redacted.Redacted } | null
  /** `false`: polling alone, with the embedded Postgres too. */
  readonly listen: boolean
  /** Absolute. */
  readonly data_dir: string
  /** `null`: made once in the data directory. */
  readonly master_secret: Redacted.Redacted | null
  /** Generations of the pepper of API keys; new keys get the first. */
  readonly key_peppers: readonly [number, ...ReadonlyArray<number>]
  /** `url` is `null` when it is to be derived with `urlOf`, once the port is known. */
  readonly api: Listener & { readonly url: string | null }
  /** `token` is `null` when none was given: made when the store is embedded, else no such claim is believed. */
  readonly console: Listener & { readonly url: string | null; readonly token: Redacted.Redacted | null }
  readonly proxy: Listener & {
    readonly domain: string
    readonly tls: { readonly cert: string; readonly key: string } | null
    readonly trusted: ReadonlyArray<Cidr>
    /** `null`: made when the store is embedded, else `/v1/proxy/*` is closed. */
    readonly token: Redacted.Redacted | null
  }
  readonly admin: Listener
  readonly trusted_hops: number
  readonly shutdown_grace: Duration.Duration
  readonly providers: ReadonlyArray<OpenIdProvider>
  /** `null`: none. They are offered beside the configured ones. */
  readonly dev_providers: { readonly ports: readonly [number, number] } | null
  readonly access: AccessSettings
  readonly sessions: SessionSettings
  readonly region: string
  /** The first is the default one. */
  readonly regions: readonly [string, ...ReadonlyArray<string>]
  readonly compute: "local" | "static" | "memory"
  readonly static_endpoints: ReadonlyArray<string>
  /** `system`, `npm` or a directory; `null`: to be found. */
  readonly postgres_bin: string | null
  readonly allowlist: { readonly refresh: Duration.Duration; readonly max_stale: Duration.Duration }
  readonly events: {
    readonly ring: number
    readonly retention: Duration.Duration
    readonly heartbeat: Duration.Duration
    readonly stream_max_age: Duration.Duration
  }
  /** `null`: every limit is off. */
  readonly limits: Limits | null
  readonly log: { readonly level: LogLevel.LogLevel; readonly format: "pretty" | "json" }
  /** `null`: off. The rest of OpenTelemetry's family is read by its exporter. */
  readonly telemetry: { readonly endpoint: string; readonly headers: Redacted.Redacted | null } | null
}

export interface Listener {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
}

/** The settings are wrong. Each mistake is a sentence; none holds a value that is secret. */
export class InvalidSettings extends Schema.TaggedError<InvalidSettings>()("InvalidSettings", {
  mistakes: Schema.Array(Schema.String)
}) {
  override get message() {
    return `The settings are wrong:\n${this.mistakes.map((mistake) => `  - ${mistake}`).join("\n")}`
  }
}

/** Where others reach a listener that was given no URL: the port is the one that it got. */
export const urlOf = ({ host, port }: Listener): string => {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`
}

export interface SettingsOptions {
  /** Is it the whole platform in one process (`npm start`), or one server of several? */
  readonly standalone: boolean
  /** Is the output a terminal? People read it there. */
  readonly terminal: boolean
}

export const loadSettings = Effect.fn("loadSettings")(function* ({ standalone, terminal }: SettingsOptions) {
  const mode = yield* Config.option(Config.String("NODE_ENV")).pipe(
    Effect.mapError((error) => new InvalidSettings({ mistakes: [`NODE_ENV cannot be read: ${error.message}.`] }))
  )
  const circumstances = { standalone, production: Option.contains(mode, "production") }
  const reading = yield* readVariables(variables)
  const mistakes = [...reading.mistakes, ...brokenRules(reading, circumstances)]
  return mistakes.length > 0 ? yield* new InvalidSettings({ mistakes }) : settled(reading, circumstances, terminal)
})

const levels = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error",
  fatal: "Fatal",
  none: "None"
} as const

/** Every default. The reading holds no mistake. */
function settled({ values }: Reading<typeof variables>, circumstances: Circumstances, terminal: boolean): Settings {
  const v = values
  const [first = "local", ...others] = v.regions ?? []
  const [pepper = 1, ...otherPeppers] = v.key_peppers ?? []
  const [one = 4402, two = 4403] = v.dev_provider_ports ?? []
  const listen = v.database_listen_url === "off" ? undefined : v.database_listen_url
  const unlimited =
    v.rate_limits === undefined ? circumstances.standalone && listensOnLoopback(v) : v.rate_limits === "off"
  return {
    standalone: circumstances.standalone,
    database: v.database_url === undefined ? null : { url: v.database_url, listen_url: listen ?? v.database_url },
    listen: v.database_listen_url !== "off",
    data_dir: resolve(v.data_dir ?? ".narthex"),
    master_secret: v.master_secret ?? null,
    key_peppers: [pepper, ...otherPeppers],
    api: { host: v.api_host ?? "127.0.0.1", port: v.api_port ?? 4400, url: v.api_url ?? null },
    console: {
      host: v.console_host ?? "127.0.0.1",
      port: v.console_port ?? 4401,
      url: v.console_url ?? null,
      token: v.console_token ?? null
    },
    proxy: {
      host: v.proxy_host ?? "127.0.0.1",
      port: v.proxy_port ?? 5442,
      domain: v.proxy_domain ?? "localhost",
      tls:
        v.proxy_tls_cert === undefined || v.proxy_tls_key === undefined
          ? null
          : { cert: v.proxy_tls_cert, key: v.proxy_tls_key },
      trusted: v.proxy_trusted ?? [],
      token: v.proxy_token ?? null
    },
    admin: { host: v.admin_host ?? "127.0.0.1", port: v.admin_port ?? 4409 },
    trusted_hops: v.trusted_hops ?? 0,
    shutdown_grace: v.shutdown_grace ?? Duration.seconds(10),
    providers: v.providers ?? [],
    dev_providers: wantsDevProviders(v, circumstances) ? { ports: [one, two] } : null,
    access: {
      open_signup: v.open_signup ?? true,
      sign_in_allowlist: v.sign_in_allowlist ?? [],
      invitations_bypass_gate: v.invitations_bypass_gate ?? false
    },
    sessions: {
      jwt_lifetime: v.jwt_lifetime ?? Duration.minutes(15),
      window: v.session_window ?? Duration.hours(12),
      reuse: v.session_reuse ?? "observe",
      id_token_replay: v.id_token_replay ?? "allow"
    },
    region: v.region ?? first,
    regions: [first, ...others],
    compute: v.compute ?? "local",
    static_endpoints: v.static_endpoints ?? [],
    postgres_bin: v.postgres_bin ?? null,
    allowlist: {
      refresh: v.allowlist_refresh ?? Duration.seconds(30),
      max_stale: v.allowlist_max_stale ?? Duration.minutes(10)
    },
    events: {
      ring: v.event_ring ?? 1024,
      retention: v.event_retention ?? Duration.hours(24),
      heartbeat: v.event_heartbeat ?? Duration.seconds(15),
      stream_max_age: v.stream_max_age ?? Duration.minutes(30)
    },
    limits: unlimited
      ? null
      : {
          exchange_per_minute: v.limit_exchange ?? 300,
          cli_exchange_per_minute: v.limit_cli_exchange ?? 120,
          failures_per_minute: v.limit_failures ?? 600,
          reports_per_hour: v.limit_reports ?? 60,
          refresh_per_minute: v.limit_refresh ?? 120,
          key_creation_per_hour: v.limit_key_creation ?? 600,
          keys: v.limit_keys ?? 1000,
          streams: v.limit_streams ?? 100,
          org_streams: v.limit_org_streams ?? 1000,
          instance_streams: v.limit_instance_streams ?? 10_000,
          stream_opens_per_second: v.limit_stream_opens ?? 50
        },
    log: { level: levels[v.log_level ?? "info"], format: v.log_format ?? (terminal ? "pretty" : "json") },
    telemetry: v.otlp_endpoint === undefined ? null : { endpoint: v.otlp_endpoint, headers: v.otlp_headers ?? null }
  }
}
