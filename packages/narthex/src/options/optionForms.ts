/**
 * The form of each option (docs/design/library.md N3). The types find most mistakes; this finds those of JavaScript: a
 * misspelt member, which would be ignored, and a value of another type, such as "false", which is true.
 */
import {
  type AccessSettings,
  type CallEffect,
  type ClassPolicy,
  type EventLimits,
  type EventSettings,
  isProxyDomain,
  isProxyHost,
  isSizeCatalog,
  normalizeEmail,
  OfferedSize,
  type OperationClass,
  type OwnRole,
  type ProxyLocation,
  type QuotaSettings,
  quotaNames,
  type RetentionSettings,
  type RoleAdditions,
  type RunnerSettings,
  type SessionSettings,
  type WaitLimit
} from "@narthex/core"
import { defaultRateLimits, type RateLimitSettings } from "@narthex/http/web"
import { Duration, Layer, Predicate, Schema } from "effect"
import {
  aFunction,
  count,
  either,
  everyOf,
  expecting,
  type Form,
  flag,
  isRecord,
  isWhole,
  type Members,
  milliseconds,
  objectOf,
  oneOf,
  optional,
  orNull,
  recordOf,
  text,
  texts,
  wholeFrom1
} from "../failures/forms.ts"
import type { ControlPlaneOptions, Limits } from "./ControlPlaneOptions.ts"

const aLayer = expecting("a Layer of Effect", Layer.isLayer)
const anArray = expecting("an array", Array.isArray)
const aDuration = "a Duration of Effect such as Duration.minutes(15)"
/** The period of a loop, or a lifetime: no shorter than clocks tell apart, and so that its end is a date. */
const period = expecting(
  aDuration,
  (it) =>
    Duration.isDuration(it) && Duration.between(it, { minimum: Duration.millis(1), maximum: Duration.days(36_500) })
)
const wait = expecting(aDuration, (it) => Duration.isDuration(it) && Duration.isFinite(it))

/** `iss` and `aud` of tokens: other programs compare and store it. */
const named = expecting(
  "text without control characters",
  (it) => Predicate.isString(it) && it.isWellFormed() && /^\P{Cc}+$/u.test(it)
)
/** Sent in a header. */
const token = expecting(
  "visible ASCII characters without spaces",
  (it) => Predicate.isString(it) && /^[\x21-\x7e]+$/.test(it)
)

const isEntry = (entry: unknown) =>
  Predicate.isString(entry) && normalizeEmail(entry.startsWith("@") ? `x${entry}` : entry) !== undefined
const addresses = expecting("an array of addresses (user@example.com) and domains (@example.com)", (it) =>
  everyOf(it, isEntry)
)

const isSet = (it: unknown) => Array.isArray(it) && it.length > 0 && new Set(it).size === it.length

/** Every member may be left out. */
const allOptional = <Name extends string>(names: ReadonlyArray<Name>, form: Form) =>
  // The names are those of the list, each with the one form.
  Object.fromEntries(names.map((name) => [name, optional(form)])) as Readonly<Record<Name, Form>>

const signup: Members<AccessSettings> = {
  open_signup: optional(flag),
  sign_in_allowlist: optional(addresses),
  invitations_bypass_gate: optional(flag)
}

const sessions: Members<SessionSettings> = {
  jwt_lifetime: optional(period),
  window: optional(period),
  reuse: optional(oneOf("observe", "grace60", "revoke")),
  id_token_replay: optional(oneOf("allow", "reject"))
}

const lag = optional(either(count, oneOf("ring")))
const events: Members<Omit<EventSettings, "limits">> = {
  ...allOptional(["ring_events", "ring_bytes", "rings_bytes", "event_bytes", "slice_bytes"], wholeFrom1),
  ...allOptional(["yield_writes", "replays", "replay_bytes", "tail_batch", "waiter_backlog"], wholeFrom1),
  ...allOptional(["heartbeat", "max_age", "stall_timeout", "revalidate", "poll", "retention"], period),
  ...allOptional(["expiry_margin", "linger", "freshness", "replay_patience"], wait),
  max_lag_events: lag,
  max_lag_bytes: lag
}

const rates: Members<RateLimitSettings> = allOptional(
  // The names of a record that the compiler knows.
  Object.keys(defaultRateLimits) as Array<keyof RateLimitSettings>,
  count
)
const streams: Members<EventLimits> = allOptional(["streams", "org_streams", "instance_streams", "opens"], count)
const waits: Members<WaitLimit> = allOptional(["waits", "org_waits", "instance_waits"], count)
const quotas: Members<QuotaSettings> = {
  ...allOptional(quotaNames, count),
  personal_percent: optional(expecting("a whole number from 1 to 100", (it) => isWhole(it, 1, 100)))
}
const limits: Members<Limits> = {
  rates: optional(orNull(objectOf(rates))),
  streams: optional(orNull(objectOf(streams))),
  waits: optional(orNull(objectOf(waits))),
  keys: optional(count),
  quotas: optional(objectOf(quotas))
}

const effects: Record<CallEffect, true> = {
  self: true,
  read: true,
  write: true,
  sandbox: true,
  destroy: true,
  mint: true,
  admin: true
}
const ownRole: Members<OwnRole> = { like: optional(oneOf("viewer", "member", "admin")), permissions: texts }
const roles: Members<RoleAdditions> = {
  permissions: recordOf(oneOf(...Object.keys(effects))),
  grants: optional(recordOf(Schema.UndefinedOr(texts))),
  roles: optional(recordOf(objectOf(ownRole)))
}

const proxy: Members<ProxyLocation> = {
  domain: optional(expecting("a domain name", (it) => Predicate.isString(it) && isProxyDomain(it))),
  host: optional(expecting("a host name or an IP address", (it) => Predicate.isString(it) && isProxyHost(it))),
  port: optional(expecting("a port, 1 to 65535", (it) => isWhole(it, 1, 65_535))),
  tls: optional(flag)
}
const retention: Members<RetentionSettings> = allOptional(["operations", "records"], period)
/** A claim passes it to Postgres as `int`. */
const claimed = expecting("a whole number from 1 to 2147483647", (it) => isWhole(it, 1, 2_147_483_647))
const places: Members<ClassPolicy> = {
  places: optional(claimed),
  per_org: optional(claimed),
  deadline: optional(period)
}
const classes: Members<Record<OperationClass, ClassPolicy>> = {
  computes: optional(objectOf(places)),
  roles: optional(objectOf(places)),
  branches: optional(objectOf(places)),
  deletions: optional(objectOf(places))
}
const operations: Members<Omit<RunnerSettings, "region">> = {
  ...allOptional(["lease", "poll", "busy_limit", "grace"], period),
  retries: optional(count),
  per_parent: optional(claimed),
  classes: optional(objectOf(classes))
}
const peppers = expecting(
  "an array of whole numbers from 1, each once, and at least one",
  (it) => everyOf(it, (item) => isWhole(item, 1)) && isSet(it)
)

const areSizes = Schema.is(Schema.Array(OfferedSize))
const sizes = expecting(
  "an array of sizes { name, cpus, memory_bytes, disk_bytes, default }, with distinct names, and one default",
  (it) => areSizes(it) && isSizeCatalog(it)
)

const storage = expecting(
  "memory(), postgres(url), or { durable, layer }",
  (it) => isRecord(it) && "durable" in it && Predicate.isBoolean(it.durable) && "layer" in it && Layer.isLayer(it.layer)
)

/** The form of every option. Further demands on an option are checked where it is used. */
export const optionForms: Members<ControlPlaneOptions> = {
  storage: optional(storage),
  secret: optional(either(text, aFunction)),
  peppers: optional(peppers),
  identity: optional(either(anArray, aLayer)),
  computes: optional(aLayer),
  sizes: optional(sizes),
  regions: optional(texts),
  signup: optional(objectOf(signup)),
  sessions: optional(objectOf(sessions)),
  events: optional(objectOf(events)),
  eventTypes: optional(recordOf(Schema.Unknown)),
  roles: optional(objectOf(roles)),
  limits: optional(orNull(objectOf(limits))),
  issuer: optional(named),
  runner: optional(flag),
  proxyToken: optional(token),
  proxy: optional(objectOf(proxy)),
  retention: optional(objectOf(retention)),
  operations: optional(objectOf(operations)),
  basePath: optional(text),
  clientAddress: optional(expecting("a function of the request and the socket's address", Predicate.isFunction)),
  hostSession: optional(expecting("a function of the request", Predicate.isFunction)),
  log: optional(expecting('a function of an entry, or "off"', (it) => it === "off" || Predicate.isFunction(it))),
  grace: optional(milliseconds)
}
