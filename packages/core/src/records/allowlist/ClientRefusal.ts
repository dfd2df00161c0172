/**
 * A client that the allowlist of a project refused, as proxies report it (docs/design/proxy.md P42 to P45).
 *
 * One record for each address and endpoint, however often it was refused: a stranger decides how many attempts there
 * are, so nothing grows with them. For the same reason a refusal is not an event.
 *
 * Pitfall: keeping what the client named. The startup packet of a client that was refused is the text of a stranger,
 * and some have a password where the role belongs. Only a name of the form that the platform gives its roles is kept.
 */
import { DateTime, Duration, Schema } from "effect"
import { BranchId, EndpointId } from "../../Ids.ts"
import { isRoleName } from "../projects/BranchRole.ts"

/** `address_not_listed`: no rule in force covers the address. `rules_unknown`: the proxy could not check the rules. */
export const RefusalReason = Schema.Literals(["address_not_listed", "rules_unknown"])
export type RefusalReason = typeof RefusalReason.Type

export class ClientRefusal extends Schema.Class<ClientRefusal>("ClientRefusal")({
  address: Schema.String,
  endpoint_id: EndpointId,
  branch_id: BranchId,
  /** The credential that the client named last, if the branch has it and the reader may see it. */
  role: Schema.NullOr(Schema.String),
  /** The reason of the last refusal. */
  reason: RefusalReason,
  count: Schema.Int,
  first_at: Schema.DateTimeUtcFromString,
  last_at: Schema.DateTimeUtcFromString
}) {}

/** The bounds of refusals: how many are kept, and for how long. */
export const refusalLimits = {
  /** The most records of a project. Records of the last refusals stay. */
  kept: 100,
  /** A record is kept for this long after its last refusal. Addresses are personal data. */
  retention: Duration.days(7)
} as const

/** The refusals of one client address at one endpoint since the last report of the proxy. */
export interface RefusalObserved {
  readonly endpoint_id: EndpointId
  /** Canonical. */
  readonly address: string
  /** The role that the client named, or `null`. */
  readonly role: string | null
  readonly reason: RefusalReason
  /** At least 1. */
  readonly count: number
  /** Milliseconds since the first and the last of these refusals, by the proxy's monotonic clock. */
  readonly first_ms: number
  readonly last_ms: number
}

/** One report of a proxy. */
export interface RefusalReport {
  /** Unique to a process of a proxy. */
  readonly proxy_id: string
  /** Grows with every report of the proxy. A report that is repeated has the same number, and counts once. */
  readonly sequence: number
  readonly refusals: ReadonlyArray<RefusalObserved>
}

/** An observation as it is recorded. `position` is the place in the list: it sorts as `last_at` does. */
export interface RefusalNoted extends Omit<RefusalObserved, "first_ms" | "last_ms"> {
  readonly first_at: DateTime.Utc
  readonly last_at: DateTime.Utc
  readonly position: string
}

const oldest = Duration.toMillis(refusalLimits.retention)

const merge = (a: RefusalObserved, b: RefusalObserved): RefusalObserved => ({
  ...(a.last_ms < b.last_ms ? a : b),
  count: a.count + b.count,
  first_ms: Math.max(a.first_ms, b.first_ms),
  last_ms: Math.min(a.last_ms, b.last_ms)
})

/**
 * The observations of a report, dated at `now`, one for each address and endpoint. `unique` is a text of letters and
 * digits that no other report has.
 */
export const datedRefusals = (
  refusals: ReadonlyArray<RefusalObserved>,
  now: DateTime.Utc,
  unique: string
): ReadonlyArray<RefusalNoted> => {
  const merged = new Map<string, RefusalObserved>()
  for (const refusal of refusals) {
    const key = `${refusal.endpoint_id} ${refusal.address}`
    const same = merged.get(key)
    merged.set(key, same === undefined ? refusal : merge(same, refusal))
  }
  return [...merged.values()].map(({ first_ms, last_ms, role, ...refusal }, n) => {
    const last = Math.min(last_ms, oldest)
    const last_at = DateTime.subtract(now, { milliseconds: last })
    const first_at = DateTime.subtract(now, { milliseconds: Math.max(last, Math.min(first_ms, oldest)) })
    const place = String(last_at.epochMilliseconds).padStart(15, "0")
    const named = role !== null && isRoleName(role) ? role : null
    return { ...refusal, role: named, first_at, last_at, position: `${place}-${unique}${n}` }
  })
}
