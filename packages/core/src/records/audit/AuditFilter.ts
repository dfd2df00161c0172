/** Which entries of an organization a list has (docs/design/audit.md U11). */
import { DateTime } from "effect"
import type { AuditEntry, AuditOutcome } from "./AuditEntry.ts"

/** Every given member must fit. A member that is left out admits every entry. */
export interface AuditFilter {
  readonly action?: string
  /** The actor, or the person as whom it acts. */
  readonly actor_id?: string
  readonly target_id?: string
  readonly outcome?: AuditOutcome
  /** Included. */
  readonly from?: DateTime.Utc
  /** Not included. */
  readonly until?: DateTime.Utc
}

/** Whether the entry fits the filter. */
export const fitsAudit = ({ action, actor, occurred_at, outcome, targets }: AuditEntry, filter: AuditFilter): boolean =>
  (filter.action === undefined || action === filter.action) &&
  (filter.outcome === undefined || outcome === filter.outcome) &&
  (filter.actor_id === undefined || actor.id === filter.actor_id || actor.user?.id === filter.actor_id) &&
  (filter.target_id === undefined || targets.some(({ id }) => id === filter.target_id)) &&
  (filter.from === undefined || DateTime.isGreaterThanOrEqualTo(occurred_at, filter.from)) &&
  (filter.until === undefined || DateTime.isLessThan(occurred_at, filter.until))
