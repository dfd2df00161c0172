/** Branches as a tree: each below the one it was copied from. Pure. */
import { DateTime } from "effect"
import type { BranchShown, EndpointShown } from "../records.ts"

export interface BranchInTree {
  readonly branch: BranchShown
  /** 0: no parent, or a parent that is not in the list. */
  readonly depth: number
}

/** The default branch first, then the oldest. */
const before = (one: BranchShown, other: BranchShown) =>
  Number(other.default) - Number(one.default) ||
  DateTime.toEpochMillis(one.created_at) - DateTime.toEpochMillis(other.created_at)

/** Every branch once, parents directly before their children. */
export const branchTree = (branches: ReadonlyArray<BranchShown>): ReadonlyArray<BranchInTree> => {
  const known: ReadonlySet<string> = new Set(branches.map(({ id }) => id))
  const above = ({ parent_id }: BranchShown): string | null =>
    parent_id !== null && known.has(parent_id) ? parent_id : null
  const below = Map.groupBy(branches, above)
  const walk = (parent: string | null, depth: number): ReadonlyArray<BranchInTree> =>
    (below.get(parent) ?? []).toSorted(before).flatMap((branch) => [{ branch, depth }, ...walk(branch.id, depth + 1)])
  return walk(null, 0)
}

/** The endpoint that clients of the branch use: the read-write one, else any. */
export const mainEndpoint = (
  branch_id: string | null,
  endpoints: ReadonlyArray<EndpointShown>
): EndpointShown | undefined => {
  const own = endpoints.filter((endpoint) => endpoint.branch_id === branch_id)
  return own.find(({ type }) => type === "read_write") ?? own[0]
}
