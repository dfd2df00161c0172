/**
 * Which operation of a class is claimed next: the rule that `OperationStore.layerMemory` follows, and that the function
 * `operation_claim_in` of the Postgres adapter states in SQL (docs/design/operations.md O3, O6 to O8).
 */
import { DateTime } from "effect"
import type { BranchId, OrgId } from "../Ids.ts"
import { isFinal, type StoredOperation } from "./Operation.ts"
import { classOf, type OperationClass, writesData } from "./OperationClass.ts"

export interface ClaimLimits {
  readonly class: OperationClass
  /** How many operations of the class the organizations of one person have claimed at most, over all instances. */
  readonly per_org: number
  /** How many copies of one branch run at most, over all instances. */
  readonly per_parent: number
}

/** The person that an organization counts for: the rule is `personOf` of `accounts/`. */
export type PersonOf = (org: OrgId) => string

/** The fence of the latest claim with this turn (`turnsOf`); 0 where there was none. */
export type Served = (turn: string) => number

/** The turns that a claim of the operation takes: of its person, its organization and its project. */
export const turnsOf = (
  { org_id, project_id }: Pick<StoredOperation, "org_id" | "project_id">,
  person: PersonOf
): readonly [person: string, organization: string, project: string] => [`person ${person(org_id)}`, org_id, project_id]

const past = (instant: DateTime.Utc | null, now: DateTime.Utc) =>
  instant === null || DateTime.isLessThanOrEqualTo(instant, now)

/** The smallest by several numbers or texts, compared in turn. */
const least = <A>(all: ReadonlyArray<A>, rank: (item: A) => ReadonlyArray<number | string>): A | undefined =>
  all
    .map((item) => ({ item, key: rank(item) }))
    .toSorted((a, b) => {
      const at = a.key.findIndex((part, n) => part !== b.key[n])
      if (at === -1) return 0
      return (a.key[at] ?? 0) < (b.key[at] ?? 0) ? -1 : 1
    })[0]?.item

/**
 * `rows` are all operations in the order of their creation. The person whose organizations have the fewest claimed
 * operations of the class comes first, of several the one that was served least recently; then the organization and the
 * project, likewise; then the oldest operation. `undefined`: none is due.
 */
export const nextClaim = (
  rows: ReadonlyArray<StoredOperation>,
  now: DateTime.Utc,
  limits: ClaimLimits,
  served: Served,
  person: PersonOf
): StoredOperation | undefined => {
  const open = rows.filter((row) => !isFinal(row.status))
  const seen = new Set<BranchId>()
  const heads = open.filter(({ branch_id }) => {
    if (branch_id === null) return true
    const first = !seen.has(branch_id)
    seen.add(branch_id)
    return first
  })
  const ofClass = heads.filter((row) => classOf(row.action) === limits.class)
  const claimed = ofClass.filter((row) => !past(row.lease_until, now))
  const taken = claimed.flatMap((row) => turnsOf(row, person))
  const count = (turn: string) => taken.filter((it) => it === turn).length
  const copiesOf = (branch: BranchId) => claimed.filter(({ copies }) => copies === branch).length
  const beingWritten = new Set(
    open.flatMap(({ action, branch_id }) => (branch_id !== null && writesData.has(action) ? [branch_id] : []))
  )
  const due = ofClass.filter(
    ({ copies, lease_until, org_id, project_id, retry_at }) =>
      past(lease_until, now) &&
      past(retry_at, now) &&
      count(turnsOf({ org_id, project_id }, person)[0]) < limits.per_org &&
      (copies === null || (copiesOf(copies) < limits.per_parent && !beingWritten.has(copies)))
  )
  // Sorting is stable: of one project's operations the oldest is the first.
  return least(due, (row) => turnsOf(row, person).flatMap((turn) => [count(turn), served(turn), turn]))
}
