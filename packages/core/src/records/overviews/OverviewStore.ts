/**
 * Port: reads the records of several stores that one page shows together. Each method is one read, so the number of
 * reads of a page does not depend on its contents; an adapter makes it one statement over indexes.
 *
 * Callers authorize first.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { BranchId, OrgId, ProjectId, UserId } from "../../Ids.ts"
import type { PageRequest } from "../../Page.ts"
import type { StorageError } from "../../StorageError.ts"
import { AccountStore } from "../accounts/AccountStore.ts"
import { InvitationStore } from "../accounts/InvitationStore.ts"
import { UserProfile } from "../accounts/User.ts"
import { IpAllowlistStore } from "../allowlist/IpAllowlistStore.ts"
import { OperationStore } from "../operations/OperationStore.ts"
import type { Branch } from "../projects/Branch.ts"
import { BranchStore } from "../projects/BranchStore.ts"
import type { Endpoint } from "../projects/Endpoint.ts"
import { EndpointStore } from "../projects/EndpointStore.ts"
import type { Project } from "../projects/Project.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"
import { QuotaStore } from "../quotas/QuotaStore.ts"
import {
  branchesCounted,
  endpointsInUse,
  type MentionedProject,
  type NamedBranch,
  type NamedProject,
  type Names,
  type PersonOverview,
  type ProjectContents,
  type ProjectUse
} from "./Overview.ts"

/** The most of each; 0: none is asked for. */
export interface PersonLimits {
  readonly organizations: number
  readonly invitations: number
  readonly projects: number
}

export interface PersonAsked {
  readonly user: UserId
  /** The normalized address whose invitations count; `null`: none is verified. */
  readonly address: string | null
  readonly org: OrgId
  readonly now: DateTime.Utc
  readonly limits: PersonLimits
}

/** The most of each; 0 and `false`: none is asked for. */
export interface ContentsLimits {
  readonly branches: number
  readonly endpoints: number
  readonly operations: number
  readonly rules: boolean
}

/** Ids of things that may be gone, or another organization's. */
export interface NamesAsked {
  readonly projects: ReadonlyArray<ProjectId>
  /** Only those of the asked projects are named. */
  readonly branches: ReadonlyArray<BranchId>
  readonly people: ReadonlyArray<UserId>
}

type ProjectAsked = Pick<Project, "id" | "default_branch_id">

export class OverviewStore extends Context.Service<
  OverviewStore,
  {
    readonly ofPerson: (asked: PersonAsked) => Effect.Effect<PersonOverview, StorageError>
    /** The contents of a project within the limits; the rest is empty. */
    readonly ofProject: (project: ProjectId, limits: ContentsLimits) => Effect.Effect<ProjectContents, StorageError>
    /** One for each of the projects, in any order; `branch` limits it to that branch and its endpoints. */
    readonly ofProjects: (
      projects: ReadonlyArray<ProjectAsked>,
      branch: BranchId | null
    ) => Effect.Effect<ReadonlyArray<ProjectUse>, StorageError>
    /**
     * The names of what the organization has, or had and has not purged: asked projects, asked branches of these with the
     * branches that they were copied from, and asked members.
     */
    readonly names: (org: OrgId, asked: NamesAsked) => Effect.Effect<Names, StorageError>
  }
>()("@narthex/core/records/overviews/OverviewStore") {
  static readonly layerMemory: Layer.Layer<
    OverviewStore,
    never,
    | AccountStore
    | BranchStore
    | EndpointStore
    | InvitationStore
    | IpAllowlistStore
    | OperationStore
    | ProjectStore
    | QuotaStore
  > = Layer.effect(
    OverviewStore,
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const allowlist = yield* IpAllowlistStore
      const branches = yield* BranchStore
      const endpoints = yield* EndpointStore
      const invitations = yield* InvitationStore
      const operations = yield* OperationStore
      const projects = yield* ProjectStore
      const quotas = yield* QuotaStore

      const use = Effect.fnUntraced(function* ({ default_branch_id, id }: ProjectAsked, branch: BranchId | null) {
        const newest = (yield* endpoints.list(id, branch, first(endpointsInUse))).items
        const ofDefault = (yield* endpoints.ofBranch(default_branch_id)).filter(
          (it) => branch === null || it.branch_id === branch
        )
        const endpoint =
          ofDefault.find(({ type }) => type === "read_write") ?? newestFirst(ofDefault)[0] ?? newest[0] ?? null
        const counted = (yield* branches.list(id, branch, first(branchesCounted))).items
        const sizes = (yield* quotas.disksOf(counted.map((it) => it.id))).flatMap(({ size_bytes }) => size_bytes ?? [])
        return {
          project_id: id,
          endpoint,
          last_used_at: lastUse(newest),
          branches_count: counted.length,
          size_bytes: sizes.length === 0 ? null : sizes.reduce((sum, size) => sum + size, 0)
        }
      })

      return OverviewStore.of({
        ofPerson: Effect.fnUntraced(function* ({ address, limits, now, org, user }) {
          const mine = yield* accounts.organizationsOf(user, first(limits.organizations))
          const waiting =
            address === null ? 0 : (yield* invitations.pendingFor(address, now, first(limits.invitations))).items.length
          const newest = yield* projects.list(org, null, first(limits.projects))
          return {
            organizations: mine.items,
            pending_invitations: waiting,
            projects: newest.items.map(({ id, name }): NamedProject => ({ id, name }))
          }
        }),
        ofProject: Effect.fnUntraced(function* (project, limits) {
          const found = (yield* branches.list(project, null, first(limits.branches))).items
          return {
            branches: found,
            disks: yield* quotas.disksOf(found.map(({ id }) => id)),
            endpoints: (yield* endpoints.list(project, null, first(limits.endpoints))).items,
            operations: (yield* operations.list(project, {}, first(limits.operations))).items,
            rules: limits.rules ? yield* allowlist.all(project) : []
          }
        }),
        ofProjects: (asked, branch) => Effect.forEach(asked, (project) => use(project, branch)),
        names: Effect.fnUntraced(function* (org, asked) {
          const known = (yield* each(asked.projects, projects.findRetained)).filter((it) => it.org_id === org)
          const inside = new Set(known.map(({ id }) => id))
          const found = (ids: ReadonlyArray<BranchId>) =>
            Effect.map(each(ids, branches.findRetained), (rows) => rows.filter((row) => inside.has(row.project_id)))
          const mentioned = yield* Effect.forEach(known, ({ id, name }) =>
            Effect.map(projects.find(org, id), (it): MentionedProject => ({ id, name, deleted: Option.isNone(it) }))
          )
          const own = yield* found(asked.branches)
          const parents = yield* found(own.flatMap(({ parent_id }) => (parent_id === null ? [] : [parent_id])))
          const people = yield* each(asked.people, (id) => accounts.findMember(org, id))
          return {
            projects: newestFirst(mentioned),
            branches: newestFirst([...own, ...parents].map(named)),
            people: newestFirst(people.map(({ email, name, user_id }) => new UserProfile({ id: user_id, email, name })))
          }
        })
      })
    })
  )
}

const first = (limit: number): PageRequest => ({ limit, after: null })

const named = ({ id, name, parent_id }: Branch): NamedBranch => ({ id, name, parent_id })

/** The rows of the ids that are found. */
const each = <Id, Row>(
  ids: ReadonlyArray<Id>,
  find: (id: Id) => Effect.Effect<Option.Option<Row>, StorageError>
): Effect.Effect<ReadonlyArray<Row>, StorageError> =>
  Effect.map(Effect.forEach(ids, find), (found) => found.flatMap(Option.toArray))

/** Each once. */
const newestFirst = <Row extends { readonly id: string }>(rows: ReadonlyArray<Row>): ReadonlyArray<Row> =>
  [...new Map(rows.map((row) => [row.id, row])).values()].toSorted((a, b) => (a.id < b.id ? 1 : -1))

const lastUse = (all: ReadonlyArray<Endpoint>): DateTime.Utc | null =>
  all
    .flatMap(({ last_active_at, started_at, suspended_at }) => [last_active_at, started_at, suspended_at])
    .reduce<DateTime.Utc | null>(
      (newest, at) => (at !== null && (newest === null || DateTime.isGreaterThan(at, newest)) ? at : newest),
      null
    )
