/**
 * Port: what organizations hold of their quotas, the operator's exceptions, and how much disk each branch takes.
 *
 * Rows of other ports are counted, not copied: `held` reads what `AccountStore`, `ProjectStore` and the others wrote.
 *
 * Pitfall: counting without `lock`. Two creations at the same time would both see room for one.
 */
import { Context, type DateTime, Effect, HashSet, Layer, Option } from "effect"
import type { BranchId, OrgId, ProjectId, RegionId, UserId } from "../../Ids.ts"
import type { StorageError } from "../../StorageError.ts"
import type { StoredInvitation } from "../accounts/Invitation.ts"
import type { Membership } from "../accounts/Membership.ts"
import { type Organization, personalOrgId } from "../accounts/Organization.ts"
import type { BranchDiskUsage } from "../computes/ComputeDriver.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import { isFinal, type StoredOperation } from "../operations/Operation.ts"
import type { Branch } from "../projects/Branch.ts"
import type { BranchRole } from "../projects/BranchRole.ts"
import type { Endpoint } from "../projects/Endpoint.ts"
import type { Project } from "../projects/Project.ts"
import type { StoredWebhook } from "../webhooks/Webhook.ts"
import type { BranchDisk } from "./BranchDisk.ts"
import type { Amounts, QuotaName, QuotaTerms } from "./Quota.ts"

/**
 * The scope of a count. `project_id` `null`: `branches_per_project` is the number of the project with the most
 * branches. `credentials_per_branch` is always the number of the branch with the most.
 */
export interface Holder {
  readonly org_id: OrgId
  readonly project_id: ProjectId | null
  readonly now: DateTime.Utc
}

export class QuotaStore extends Context.Service<
  QuotaStore,
  {
    /**
     * Makes other transactions that lock one of these quotas of the organization wait until this one ends. Locks in the
     * order that is given.
     */
    readonly lock: (org: OrgId, quotas: ReadonlyArray<QuotaName>) => Effect.Effect<void, StorageError>
    /** `None`: there is no such organization. */
    readonly terms: (org: OrgId) => Effect.Effect<Option.Option<QuotaTerms>, StorageError>
    /**
     * How much the organization holds of each quota. A compute counts as running if it runs or an unfinished operation
     * starts it; `memory_bytes` is the sum of the sizes of these. Members include pending invitations. `organizations` are the existing ones that the person of this
     * personal organization created.
     */
    readonly held: (holder: Holder, quotas: ReadonlyArray<QuotaName>) => Effect.Effect<Partial<Amounts>, StorageError>
    /** Sets the number of one organization; `null`: the general one applies again. */
    readonly setOverride: (org: OrgId, quota: QuotaName, allowed: number | null) => Effect.Effect<void, StorageError>
    /** Records who created an organization. */
    readonly addFounder: (org: OrgId, user: UserId) => Effect.Effect<void, StorageError>
    /** The bytes of a branch, as recorded last; 0 for an unknown one. */
    readonly bytesOf: (branch: BranchId) => Effect.Effect<number, StorageError>
    /** Records the bytes that a branch will have, until it is measured. */
    readonly expectBytes: (org: OrgId, branch: BranchId, bytes: number) => Effect.Effect<void, StorageError>
    /** The disk of these branches, in any order. A branch without a measurement and without expected bytes is left out. */
    readonly disksOf: (branches: ReadonlyArray<BranchId>) => Effect.Effect<ReadonlyArray<BranchDisk>, StorageError>
    /**
     * Records a measurement of the computes of a region, or of every region (`null`), which began at `now`. A branch whose data is being made keeps its expected
     * bytes, if they are more, and has no size yet. A deleted branch counts until a measurement of its region does not contain
     * it. Branches without a row are left out.
     */
    readonly recordBytes: (
      region: RegionId | null,
      measured: ReadonlyArray<BranchDiskUsage>,
      now: DateTime.Utc
    ) => Effect.Effect<void, StorageError>
  }
>()("@narthex/core/records/quotas/QuotaStore") {
  static readonly layerMemory: Layer.Layer<QuotaStore, never, MemoryStorage> = Layer.effect(
    QuotaStore,
    Effect.gen(function* () {
      const { table } = yield* MemoryStorage
      interface Living {
        readonly deleted_at: DateTime.Utc | null
      }
      const organizations = table<Organization>("organization")
      const memberships = table<Membership>("membership")
      const invitations = table<StoredInvitation>("invitation")
      const projects = table<Living & { readonly project: Project }>("project")
      const branches = table<Living & { readonly branch: Branch }>("branch")
      const endpoints = table<Living & { readonly endpoint: Endpoint }>("endpoint")
      const webhooks = table<StoredWebhook>("webhook")
      const roles = table<BranchRole>("branch_role")
      const operations = table<StoredOperation>("operation")
      const overrides = table<{ readonly org: OrgId; readonly quota: QuotaName; readonly allowed: number }>(
        "quota_override"
      )
      const founders = table<{ readonly org: OrgId; readonly user: UserId }>("organization_founder")
      interface Disk {
        readonly org: OrgId
        readonly branch: BranchId
        readonly bytes: number
        /** `null`: expected, not measured yet. */
        readonly measured_at: DateTime.Utc | null
      }
      const disk = table<Disk>("branch_disk")

      const count = ({ now, org_id, project_id }: Holder): Record<QuotaName, Effect.Effect<number>> => {
        const ofOrg = Effect.map(
          projects.all,
          (rows) => new Set(rows.filter(({ project }) => project.org_id === org_id).map(({ project }) => project.id))
        )
        const living = <Row extends Living>(
          rows: Effect.Effect<ReadonlyArray<Row>>,
          projectOf: (row: Row) => ProjectId
        ) =>
          Effect.gen(function* () {
            const own = yield* ofOrg
            return (yield* rows).filter((row) => row.deleted_at === null && own.has(projectOf(row)))
          })
        const livingBranches = living(branches.all, ({ branch }) => branch.project_id)
        const livingEndpoints = living(endpoints.all, ({ endpoint }) => endpoint.project_id)
        const pending = Effect.map(
          invitations.all,
          (rows) => rows.filter((row) => row.org_id === org_id && row.statusAt(now) === "pending").length
        )
        const runningEndpoints = Effect.gen(function* () {
          const unfinished = (yield* operations.all).filter((row) => !isFinal(row.status))
          return (yield* livingEndpoints).filter(({ endpoint }) => takesCompute(endpoint, unfinished))
        })
        const lengthOf = <Row>(rows: Effect.Effect<ReadonlyArray<Row>>) => Effect.map(rows, ({ length }) => length)
        return {
          projects: lengthOf(living(projects.all, ({ project }) => project.id)),
          branches: lengthOf(livingBranches),
          branches_per_project: Effect.map(livingBranches, (rows) => {
            const counts = new Map<ProjectId, number>()
            for (const { branch } of rows)
              if (project_id === null || branch.project_id === project_id)
                counts.set(branch.project_id, (counts.get(branch.project_id) ?? 0) + 1)
            return Math.max(0, ...counts.values())
          }),
          sandboxes: Effect.map(
            livingBranches,
            (rows) => rows.filter(({ branch }) => branch.expires_at !== null).length
          ),
          endpoints: lengthOf(livingEndpoints),
          credentials_per_branch: Effect.gen(function* () {
            const counts = new Map((yield* livingBranches).map(({ branch }) => [branch.id, 0]))
            for (const { branch_id, removed_at } of yield* roles.all) {
              const counted = counts.get(branch_id)
              if (counted !== undefined && removed_at === null) counts.set(branch_id, counted + 1)
            }
            return Math.max(0, ...counts.values())
          }),
          running_computes: lengthOf(runningEndpoints),
          memory_bytes: Effect.map(runningEndpoints, (rows) =>
            rows.reduce((sum, { endpoint }) => sum + (endpoint.size?.memory_bytes ?? 0), 0)
          ),
          members: Effect.gen(function* () {
            const members = (yield* memberships.all).filter((row) => row.org_id === org_id).length
            return members + (yield* pending)
          }),
          invitations: pending,
          organizations: Effect.gen(function* () {
            const existing = HashSet.fromIterable((yield* organizations.all).map((row) => row.id))
            return (yield* founders.all).filter(
              (row) => personalOrgId(row.user) === org_id && HashSet.has(existing, row.org)
            ).length
          }),
          webhooks: Effect.map(webhooks.all, (rows) => rows.filter((row) => row.org_id === org_id).length),
          disk_bytes: Effect.map(disk.all, (rows) =>
            rows.filter((row) => row.org === org_id).reduce((sum, { bytes }) => sum + bytes, 0)
          )
        }
      }

      const terms: QuotaStore["Service"]["terms"] = Effect.fnUntraced(function* (org) {
        const found = yield* organizations.get(org)
        const own = (yield* overrides.all).filter((row) => row.org === org)
        return Option.map(found, ({ personal }) => ({
          personal,
          overrides: Object.fromEntries(own.map(({ allowed, quota }) => [quota, allowed]))
        }))
      })

      return QuotaStore.of({
        lock: () => Effect.void, // transactions of `MemoryStorage` are serialized
        terms,
        held: (holder, quotas) => {
          const counts = count(holder)
          return Effect.map(
            Effect.forEach(quotas, (quota) => Effect.map(counts[quota], (held) => [quota, held] as const)),
            (entries): Partial<Amounts> => Object.fromEntries(entries)
          )
        },
        setOverride: (org, quota, allowed) =>
          allowed === null
            ? overrides.remove(`${org} ${quota}`)
            : overrides.put(`${org} ${quota}`, { org, quota, allowed }),
        addFounder: (org, user) => founders.put(org, { org, user }),
        bytesOf: (branch) =>
          Effect.map(disk.get(branch), (row) => Option.match(row, { onNone: () => 0, onSome: ({ bytes }) => bytes })),
        expectBytes: (org, branch, bytes) => disk.put(branch, { org, branch, bytes, measured_at: null }),
        disksOf: Effect.fnUntraced(function* (wanted) {
          const rows = yield* disk.all
          return yield* Effect.forEach(
            rows.filter(({ branch }) => wanted.includes(branch)),
            ({ branch, bytes, measured_at, org }) =>
              Effect.map(terms(org), (found) => ({
                branch_id: branch,
                size_bytes: measured_at === null ? null : bytes,
                size_measured_at: measured_at,
                held: rows.filter((row) => row.org === org).reduce((sum, row) => sum + row.bytes, 0),
                terms: Option.getOrElse(found, () => ({ personal: false, overrides: {} }))
              }))
          )
        }),
        recordBytes: (region, measured, now) =>
          Effect.gen(function* () {
            const owners = new Map((yield* projects.all).map(({ project }) => [project.id, project.org_id]))
            const rows = yield* branches.all
            for (const { branch, deleted_at } of rows) {
              const found = measured.find((it) => it.branch_id === branch.id)
              const org = owners.get(branch.project_id)
              const isHere = region === null || branch.region_id === region
              if (found === undefined && deleted_at !== null && isHere) yield* disk.remove(branch.id)
              if (found === undefined || org === undefined) continue
              const before = Option.getOrUndefined(yield* disk.get(branch.id))?.bytes ?? 0
              const making = branch.current_state === "init" || branch.current_state === "resetting"
              const bytes = making ? Math.max(before, found.bytes) : found.bytes
              yield* disk.put(branch.id, { org, branch: branch.id, bytes, measured_at: making ? null : now })
            }
          })
      })
    })
  )
}

/**
 * Whether the endpoint's compute runs, or will run. `unfinished` are unfinished operations of its branch, or of more.
 */
export const takesCompute = (
  endpoint: Pick<Endpoint, "current_state" | "id" | "pending_state">,
  unfinished: ReadonlyArray<Pick<StoredOperation, "action" | "endpoint_id">>
): boolean =>
  endpoint.current_state === "active" ||
  endpoint.pending_state === "active" ||
  unfinished.some((it) => it.action === "start_compute" && it.endpoint_id === endpoint.id)
