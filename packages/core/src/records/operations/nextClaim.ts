/**
 * Which operation of a class is claimed next: the rule of `OperationStore.layerMemory`, which the Postgres adapter follows
 * with one query (docs/design/operations.md O3, O6 to O8).
 */
import { DateTime, Order } from "effect"
import type { BranchId, OrgId, RegionId } from "../../Ids.ts"
import { isFinal, type StoredOperation } from "./Operation.ts"
import { classOf, type OperationClass, writesData } from "./OperationClass.ts"

export interface ClaimLimits {
  readonly class: OperationClass
  /** Operations of this region alone. Limits and turns are those of the region. */
  readonly region_id: RegionId
  /** How many operations of the class an organization has claimed at most, over all instances of the region. */
  readonly per_org: number
  /** How many copies of one branch run at most, over all instances of the region. */
  readonly per_parent: number
}

const past = (instant: DateTime.Utc | null, now: DateTime.Utc) =>
  instant === null || DateTime.isLessThanOrEqualTo(instant, now)

/** The unfinished operations that wait for no earlier one of their branch. */
const headsOf = (open: ReadonlyArray<StoredOperation>): ReadonlyArray<StoredOperation> => {
  const seen = new Set<BranchId>()
  return open.filter(({ branch_id }) => {
    if (branch_id === null) return true
    const first = !seen.has(branch_id)
    seen.add(branch_id)
    return first
  })
}

const isOpen = ({ status }: StoredOperation) => !isFinal(status)

/** `rows` are all operations in the order of their creation. */
export const dueHeads = (rows: ReadonlyArray<StoredOperation>, now: DateTime.Utc): ReadonlyArray<StoredOperation> =>
  headsOf(rows.filter(isOpen)).filter(({ lease_until, retry_at }) => past(lease_until, now) && past(retry_at, now))

/** Since when a due operation could be claimed. */
export const dueSince = ({ created_at, lease_until, retry_at }: StoredOperation): DateTime.Utc =>
  [retry_at, lease_until].reduce<DateTime.Utc>(
    (latest, it) => (it === null ? latest : DateTime.max(latest, it)),
    created_at
  )

/**
 * `rows` are all operations in the order of their creation, and `served` is the fence of an organization's latest claim
 * of the class in the region, 0 if it has none. The organization that was served least recently comes first, with its oldest
 * operation. `undefined`: no operation is due.
 */
export const nextClaim = (
  rows: ReadonlyArray<StoredOperation>,
  now: DateTime.Utc,
  limits: ClaimLimits,
  served: (org: OrgId) => number
): StoredOperation | undefined => {
  const open = rows.filter(isOpen)
  const ofClass = headsOf(open).filter(
    (row) => classOf(row.action) === limits.class && row.region_id === limits.region_id
  )
  const claimed = ofClass.filter((row) => !past(row.lease_until, now))
  const ofOrg = (org: OrgId) => claimed.filter(({ org_id }) => org_id === org).length
  const copiesOf = (branch: BranchId) => claimed.filter(({ copies }) => copies === branch).length
  const beingWritten = new Set(
    open.flatMap(({ action, branch_id }) => (branch_id !== null && writesData.has(action) ? [branch_id] : []))
  )
  const due = ofClass.filter(
    ({ copies, lease_until, org_id, retry_at }) =>
      past(lease_until, now) &&
      past(retry_at, now) &&
      ofOrg(org_id) < limits.per_org &&
      (copies === null || (copiesOf(copies) < limits.per_parent && !beingWritten.has(copies)))
  )
  // Sorting is stable: of one organization's operations the oldest is the first.
  return due.toSorted(byTurn(served))[0]
}

const byTurn = (served: (org: OrgId) => number): Order.Order<StoredOperation> =>
  Order.combine(
    Order.mapInput(Order.Number, ({ org_id }) => served(org_id)),
    Order.mapInput(Order.String, ({ org_id }) => org_id)
  )
