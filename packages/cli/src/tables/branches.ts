/** Tables of branches. */
import type { BranchRecord } from "@narthex/api"
import { type Cell, facts, instant, rows, size } from "../output/table.ts"
import { stateText, yesNo } from "./states.ts"

export type Branch = typeof BranchRecord.Type

/** Parents are named where they are in the list. */
export const branchRows = (branches: ReadonlyArray<Branch>) => {
  const names = new Map(branches.map(({ id, name }) => [id, name]))
  return rows(
    ["name", "state", "default", "protected", "parent", "size", "expires", "created", "id"],
    ...branches.map((branch) => [
      branch.name,
      stateText(branch),
      yesNo(branch.default),
      yesNo(branch.protected),
      branch.parent_id === null ? null : (names.get(branch.parent_id) ?? branch.parent_id),
      size(branch.size_bytes),
      instant(branch.expires_at) ?? "never",
      instant(branch.created_at),
      branch.id
    ])
  )
}

/** Reasons of a newer server are shown as they are. */
const readOnlyText = (reason: string) =>
  reason === "disk_quota" ? "its organization holds more disk than its quota" : reason

export const branchPairs = (branch: Branch): ReadonlyArray<readonly [string, Cell]> => [
  ["branch", branch.id],
  ["name", branch.name],
  ["project", branch.project_id],
  ["state", stateText(branch)],
  ["default", yesNo(branch.default)],
  ["protected", yesNo(branch.protected)],
  ["parent", branch.parent_id],
  ["size", size(branch.size_bytes)],
  ["measured", instant(branch.size_measured_at)],
  ...(branch.read_only_reason === null ? [] : [["only reads", readOnlyText(branch.read_only_reason)] as const]),
  ["expires", instant(branch.expires_at) ?? "never"],
  ["created", instant(branch.created_at)],
  ["by", branch.created_by === null ? null : (branch.created_by.email ?? branch.created_by.id)]
]

export const branchFacts = (branch: Branch) => facts(...branchPairs(branch))
