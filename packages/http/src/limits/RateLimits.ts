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
}

/** The documented limits, which hold unless a host sets others. */
export const defaultRateLimits: RateLimitSettings = {
  exchange_per_minute: 300,
  cli_exchange_per_minute: 120,
  failures_per_minute: 600,
  reports_per_hour: 60,
  refresh_per_minute: 120,
  key_creation_per_hour: 600
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
  failures: (it: RateLimitSettings) => [it.failures_per_minute, minute],
  reports: (it: RateLimitSettings) => [it.reports_per_hour, hour],
  refresh: (it: RateLimitSettings) => [it.refresh_per_minute, minute],
  key_creation: (it: RateLimitSettings) => [it.key_creation_per_hour, hour]
} as const satisfies Record<LimitName, (settings: RateLimitSettings) => readonly [limit: number, seconds: number]>

/** The limits that endpoints declare, and the one on failed authentications, which counts on all of them. */
export type LimitName = RateLimitName | "failures"
