/**
 * The disk of a branch and of its organization, and what follows from it (docs/design/api.md A20, A36). Pure.
 *
 * An organization that holds more than its quota only reads until it holds less: creations are checked before, but what
 * databases write is known only after it was written.
 */
import type { DateTime } from "effect"
import type { BranchId } from "../../Ids.ts"
import type { BranchSize } from "../projects/Branch.ts"
import { allowedOf, type QuotaSettings, type QuotaTerms } from "./Quota.ts"

/** The recorded disk of a branch. */
export interface BranchDisk {
  readonly branch_id: BranchId
  /** `null`: it has not been measured, or is being made or replaced. */
  readonly size_bytes: number | null
  readonly size_measured_at: DateTime.Utc | null
  /** The sum of all branches of its organization, in bytes. */
  readonly held: number
  readonly terms: QuotaTerms
}

/** Whether the organization of the branch holds more than it may. */
export const isAboveQuota = (settings: QuotaSettings, { held, terms }: Pick<BranchDisk, "held" | "terms">): boolean =>
  held > allowedOf(settings, terms, "disk_bytes")

export const sizeOf = (settings: QuotaSettings, disk: BranchDisk): BranchSize => ({
  branch_id: disk.branch_id,
  size_bytes: disk.size_bytes,
  size_measured_at: disk.size_measured_at,
  read_only_reason: isAboveQuota(settings, disk) ? "disk_quota" : null
})
