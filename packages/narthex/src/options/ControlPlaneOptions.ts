/** Options of a control plane. Every option has a default that works in memory (docs/design/library.md N1–N6). */
import type {
  AccessSettings,
  ClassPolicy,
  ComputeDriver,
  EventLimits,
  EventSchema,
  EventSettings,
  IdentityProvider,
  OfferedSize,
  OperationClass,
  ProxyLocation,
  QuotaSettings,
  RetentionSettings,
  RoleAdditions,
  RunnerSettings,
  SessionSettings,
  WaitLimit
} from "@narthex/core"
import type { HostSession, OpenIdProvider, RateLimitSettings } from "@narthex/http/web"
import type { Layer } from "effect"
import type { Storage } from "./Storage.ts"

/** An OpenID Connect provider, as its console shows it: issuer, client ids, and the rest where it differs. */
export type Provider = typeof OpenIdProvider.Encoded

/** Each member replaces one default. `null` switches the limits of a member off. */
export interface Limits {
  /** How often calls may be made. */
  readonly rates?: Partial<RateLimitSettings> | null
  /** How many event streams may be open. */
  readonly streams?: Partial<EventLimits> | null
  /** How many calls may wait for operations. */
  readonly waits?: Partial<WaitLimit> | null
  /** How many API keys an organization may have. */
  readonly keys?: number
  /**
   * How much an organization may have: `projects` is 100 unless given, and so on (`defaultQuotas`). A personal
   * organization has a share of each number, `personal_percent` (20), and at least 1: with the defaults 20 projects.
   * `100` makes no difference between personal organizations and teams.
   */
  readonly quotas?: Partial<QuotaSettings>
}

/** Each member replaces one default, also those of a class: `{ classes: { branches: { places: 2 } } }`. */
export interface OperationOptions extends Partial<Omit<RunnerSettings, "classes" | "region">> {
  readonly classes?: Partial<Readonly<Record<OperationClass, Partial<ClassPolicy>>>>
}

/** The options that a control plane has with and without Effect. */
export interface CoreOptions {
  /** Default: `memory()`. */
  readonly storage?: Storage
  /**
   * 32 bytes as base64url, or a function that reads them. Session keys are encrypted with it and API keys digested:
   * if it is lost, all of them are invalid. Required where the storage outlives the process; else random.
   */
  readonly secret?: string | (() => Promise<string>)
  /**
   * Generations of the pepper under which API keys are digested: new keys get the first, keys of every listed one work.
   * To rotate on several instances: `[1, 2]` on all of them, then `[2, 1]`. Default: `[1]`.
   */
  readonly peppers?: ReadonlyArray<number>
  /** Providers of the id tokens that people sign in with. Default: none, the host signs people in. */
  readonly identity?: ReadonlyArray<Provider> | Layer.Layer<IdentityProvider>
  /** The driver that runs Postgres for branches. Default: computes in memory, which start nothing. */
  readonly computes?: Layer.Layer<ComputeDriver, unknown>
  /** The sizes that endpoints can be given, one of which is the default. Default: none, computes have no limits. */
  readonly sizes?: ReadonlyArray<OfferedSize>
  /** The ids of regions at the very first start, the default one first. Default: `local`. */
  readonly regions?: ReadonlyArray<string>
  /** Rules about the people who may sign in. Default: everyone. */
  readonly signup?: Partial<AccessSettings>
  /** Lifetimes of sessions. */
  readonly sessions?: Partial<SessionSettings>
  /** Retention and sizes of event streams. */
  readonly events?: Partial<Omit<EventSettings, "limits">>
  /**
   * The types of events that the host publishes with `events.publish`, each with the schema of its data: one of Effect,
   * Zod, Valibot, or any other that follows Standard Schema.
   */
  readonly eventTypes?: Readonly<Record<string, EventSchema>>
  /** Permissions and roles of the host's own, in addition to the built-in ones. */
  readonly roles?: RoleAdditions
  /** `null` switches every limit off but the quotas. */
  readonly limits?: Limits | null
  /** `iss` and `aud` of session tokens; must stay the same while they are valid. Default: `narthex`. */
  readonly issuer?: string
  /** `false`: another process performs the operations. Default: `true`. */
  readonly runner?: boolean
  /** The token that proxies present to `/v1/proxy/*`. Default: these calls are refused. */
  readonly proxyToken?: string
  /**
   * Where clients reach the proxy, for hosts and connection strings: by the names of `domain` that lead to it, or, while
   * that is `localhost`, by `host`. Default: port 5442 of this machine, without TLS.
   */
  readonly proxy?: Partial<ProxyLocation>
  /** How long final operations and deleted objects are kept. */
  readonly retention?: Partial<RetentionSettings>
  /** How operations are performed: leases, places, limits and times. Each member replaces one default. */
  readonly operations?: OperationOptions
}

/** One line of the log. */
export interface LogEntry {
  readonly level: "debug" | "info" | "warning" | "error"
  readonly message: string
  readonly at: Date
  /** The reason of a failure, for operators. */
  readonly cause?: string
}

export interface ControlPlaneOptions extends CoreOptions {
  /**
   * Where the API is mounted, for example `/control`. Default: at the root, where `node` with `next` leaves `/livez`,
   * `/readyz`, `/docs` and `/openapi.json` to the host.
   */
  readonly basePath?: string
  /**
   * The address of a client, for limits, sessions and allowlists. Default: the socket's for `cp.node`, and none for
   * `cp.fetch`: no header is trusted unless this function reads it.
   */
  readonly clientAddress?: (request: Request, socketAddress: string | null) => string | null
  /**
   * The person and the id of your own session that a request without `Authorization` belongs to, for example by your
   * cookie; `null`: none. `fetch` and `node` call the function, and act with the session that `sessions.start` makes or
   * finds for the same id (`host_session`), until `sessions.end`. A change that a page of another site sends never gets
   * a session. The function must not read the request's body, which the API reads afterwards.
   */
  readonly hostSession?: (request: Request) => Promise<HostSession | null>
  /** Gets warnings and errors. Default: one line on standard error. `off`: nothing. */
  readonly log?: ((entry: LogEntry) => void) | "off"
  /** How long, in milliseconds, `close` waits for streams and calls in flight. Default: 10,000. */
  readonly grace?: number
}
