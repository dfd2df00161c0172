/**
 * The numbers of the rate limits (docs/design/identity.md I44–I47). `null`: every limit is off.
 */
import type { RateLimitName } from "@narthex/api"
import { Context } from "effect"

export interface RateLimitSettings {
  /** Per client address. */
  readonly exchange_per_minute: number
  readonly cli_exchange_per_minute: number
  readonly failures_per_minute: number
  readonly reports_per_hour: number
  /** Per session. */
  readonly refresh_per_minute: number
  /** Per user. */
  readonly key_creation_per_hour: number
  readonly organization_creation_per_hour: number
  /** Per caller: a user's sessions, or an API key. */
  readonly creation_per_minute: number
  readonly invitation_creation_per_hour: number
  readonly changes_per_minute: number
  /** Per organization, all callers together. */
  readonly org_creation_per_minute: number
  readonly org_invitation_creation_per_hour: number
  readonly org_changes_per_minute: number
  /** On each instance, per session or API key. Calls of four seconds may be made at once. */
  readonly calls_per_second: number
}

/** The documented limits, which hold unless a host sets others. */
export const defaultRateLimits: RateLimitSettings = {
  exchange_per_minute: 300,
  cli_exchange_per_minute: 120,
  failures_per_minute: 600,
  reports_per_hour: 60,
  refresh_per_minute: 120,
  key_creation_per_hour: 600,
  organization_creation_per_hour: 60,
  creation_per_minute: 240,
  invitation_creation_per_hour: 200,
  changes_per_minute: 600,
  org_creation_per_minute: 1200,
  org_invitation_creation_per_hour: 400,
  org_changes_per_minute: 3000,
  calls_per_second: 16
}

export const RateLimits = Context.Reference<RateLimitSettings | null>("@narthex/http/limits/RateLimits", {
  defaultValue: () => defaultRateLimits
})

const minute = 60
const hour = 3600

/** The quota of each limit: how many calls, in how many seconds. */
export const quotas = {
  exchange: (it: RateLimitSettings) => [it.exchange_per_minute, minute],
  cli_exchange: (it: RateLimitSettings) => [it.cli_exchange_per_minute, minute],
  reports: (it: RateLimitSettings) => [it.reports_per_hour, hour],
  refresh: (it: RateLimitSettings) => [it.refresh_per_minute, minute],
  key_creation: (it: RateLimitSettings) => [it.key_creation_per_hour, hour],
  organization_creation: (it: RateLimitSettings) => [it.organization_creation_per_hour, hour],
  creation: (it: RateLimitSettings) => [it.creation_per_minute, minute],
  invitation_creation: (it: RateLimitSettings) => [it.invitation_creation_per_hour, hour],
  org_creation: (it: RateLimitSettings) => [it.org_creation_per_minute, minute],
  org_invitation_creation: (it: RateLimitSettings) => [it.org_invitation_creation_per_hour, hour],
  changes: (it: RateLimitSettings) => [it.changes_per_minute, minute],
  org_changes: (it: RateLimitSettings) => [it.org_changes_per_minute, minute]
} as const satisfies Record<LimitName, (settings: RateLimitSettings) => readonly [limit: number, seconds: number]>

/** The limits per organization that apply in addition to a limit per caller. */
export const organizationLimits = {
  creation: "org_creation",
  invitation_creation: "org_invitation_creation",
  changes: "org_changes"
} as const

/** The limits that storage counts: those that endpoints declare, and those of organizations. */
export type LimitName = RateLimitName | (typeof organizationLimits)[keyof typeof organizationLimits]
