/** Overviews: records of several stores that one page shows together (docs/design/api.md A28 to A32). */
import { type DateTime, Schema } from "effect"
import { BranchId, ProjectId } from "../../Ids.ts"
import { exampleIds as ids, means } from "../../means.ts"
import type { OrganizationView } from "../accounts/Organization.ts"
import { UserProfile } from "../accounts/User.ts"
import type { IpRule, RulesInForce } from "../allowlist/IpRule.ts"
import type { StoredOperation } from "../operations/Operation.ts"
import type { Branch, BranchSize } from "../projects/Branch.ts"
import type { Endpoint } from "../projects/Endpoint.ts"
import type { BranchDisk } from "../quotas/BranchDisk.ts"

export const NamedProject = Schema.Struct({
  id: ProjectId.annotateKey(means("The id of the project.", ids.project)),
  name: Schema.String.annotateKey(means("The name of the project.", "checkout"))
}).annotate({
  identifier: "NamedProject"
})
export type NamedProject = typeof NamedProject.Type

export const NamedBranch = Schema.Struct({
  id: BranchId.annotateKey(means("The id of the branch.", ids.branch)),
  name: Schema.String.annotateKey(means("The name of the branch.", "preview")),
  parent_id: Schema.NullOr(BranchId).annotateKey(
    means(
      "The id of the branch that it was copied from, which is named too where it exists; `null`: the first branch of the project.",
      null
    )
  )
}).annotate({ identifier: "NamedBranch" })
export type NamedBranch = typeof NamedBranch.Type

/** The start of a person's pages. */
export interface PersonOverview {
  /** The organizations of the person, oldest first, with the role in each. */
  readonly organizations: ReadonlyArray<OrganizationView>
  readonly pending_invitations: number
  /** The newest projects of the organization. */
  readonly projects: ReadonlyArray<NamedProject>
}

/** The parts that an overview of a project may have. */
export type ProjectPart = "branches" | "endpoints" | "operations" | "ip_allow"

/** The contents of a project, newest first, and every stored rule of its allowlist, oldest first. */
export interface ProjectContents {
  readonly branches: ReadonlyArray<Branch>
  /** The disk of these branches, as `QuotaStore.disksOf` answers. */
  readonly disks: ReadonlyArray<BranchDisk>
  readonly endpoints: ReadonlyArray<Endpoint>
  readonly operations: ReadonlyArray<StoredOperation>
  readonly rules: ReadonlyArray<IpRule>
}

/** The same, with the rules that are in force. */
export interface ProjectOverview extends Omit<ProjectContents, "disks" | "rules"> {
  readonly sizes: ReadonlyArray<BranchSize>
  readonly ip_allow: RulesInForce
}

/** The use of a project at one look. */
export interface ProjectUse {
  readonly project_id: ProjectId
  /** The endpoint whose state is the project's: the default branch's read-write endpoint, else its newest, else any. */
  readonly endpoint: Endpoint | null
  /** When one of the newest 100 endpoints was last active, started or suspended; `null`: no endpoint has run. */
  readonly last_used_at: DateTime.Utc | null
  /** How many branches there are; at most the newest 100 are counted. */
  readonly branches_count: number
  /** The sum of the measured sizes of these branches; `null`: none is measured. */
  readonly size_bytes: number | null
}

/** The number of newest endpoints that `last_used_at` regards. */
export const endpointsInUse = 100

/** The number of newest branches that are counted. */
export const branchesCounted = 100

/** A project that events mention, which may be deleted. */
export const MentionedProject = Schema.Struct({ ...NamedProject.fields, deleted: Schema.Boolean }).annotate({
  identifier: "MentionedProject"
})
export type MentionedProject = typeof MentionedProject.Type

/** The names of what events mention, newest first. */
export const Names = Schema.Struct({
  projects: Schema.Array(MentionedProject),
  branches: Schema.Array(NamedBranch),
  people: Schema.Array(UserProfile)
}).annotate({ identifier: "Names" })
export type Names = typeof Names.Type
