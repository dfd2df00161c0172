/**
 * Applies the quotas: refuses a creation that exceeds one, and reports what an organization holds.
 *
 * A creation takes its place in its own transaction: the counts are locked, read and compared before the rows are
 * inserted, so parallel creations never exceed a quota together. Nothing is counted apart from the rows themselves, so a
 * deletion or a rollback gives the place back.
 *
 * Pitfall: taking places in several calls in different orders. Two transactions would deadlock. `takeCopy` comes after
 * `take`, because the disk is the last in the order of `quotaNames`.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { BranchId, OrgId, ProjectId, UserId } from "../../Ids.ts"
import { type Organization, personalOrgId } from "../../records/accounts/Organization.ts"
import {
  type Amounts,
  allowedOf,
  firstExceeded,
  QuotaExceeded,
  type QuotaName,
  QuotaPolicy,
  type QuotaUsage,
  quotaNames
} from "../../records/quotas/Quota.ts"
import { QuotaStore } from "../../records/quotas/QuotaStore.ts"
import type { StorageError } from "../../StorageError.ts"

export class Quotas extends Context.Service<
  Quotas,
  {
    /**
     * Locks and checks, within the running transaction, that the organization may have so much more of each quota.
     * `project` is the one that `branches_per_project` is about.
     */
    readonly take: (
      org: OrgId,
      added: Partial<Amounts>,
      project?: ProjectId
    ) => Effect.Effect<void, QuotaExceeded | StorageError>
    /**
     * As `take`, for the disk of a new or replaced branch: a copy of `from` takes as many bytes. `null`: an empty
     * database, which is refused only if nothing is left.
     */
    readonly takeCopy: (
      org: OrgId,
      copy: { readonly from: BranchId | null; readonly to: BranchId }
    ) => Effect.Effect<void, QuotaExceeded | StorageError>
    /** As `take`, for an organization that the person creates, and records that. Insert the organization before. */
    readonly takeOrganization: (user: UserId, org: OrgId) => Effect.Effect<void, QuotaExceeded | StorageError>
    /**
     * Checks that the organization may have one more of what the caller has counted, under a lock that keeps others from
     * adding to it.
     */
    readonly takeOne: (org: OrgId, quota: QuotaName, held: number) => Effect.Effect<void, QuotaExceeded | StorageError>
    /** The usage of each quota by the organization. `organizations` is part of the person's own organization alone. */
    readonly usage: (
      organization: Pick<Organization, "id" | "personal">
    ) => Effect.Effect<ReadonlyArray<QuotaUsage>, StorageError>
  }
>()("@narthex/core/services/quotas/Quotas") {
  static readonly layer: Layer.Layer<Quotas, never, QuotaStore> = Layer.effect(
    Quotas,
    Effect.gen(function* () {
      const store = yield* QuotaStore

      const allowedFor = Effect.fnUntraced(function* (org: OrgId) {
        const settings = yield* QuotaPolicy
        const terms = Option.getOrElse(yield* store.terms(org), () => ({ personal: false, overrides: {} }))
        return (quota: QuotaName) => allowedOf(settings, terms, quota)
      })

      const read = Effect.fnUntraced(function* (
        org_id: OrgId,
        quotas: ReadonlyArray<QuotaName>,
        project_id: ProjectId | null
      ) {
        const allowed = yield* allowedFor(org_id)
        const held = yield* store.held({ org_id, project_id, now: yield* DateTime.now }, quotas)
        return quotas.map((quota): QuotaUsage => ({ quota, held: held[quota] ?? 0, allowed: allowed(quota) }))
      })

      const take: Quotas["Service"]["take"] = Effect.fn("Quotas.take")(function* (org, added, project) {
        const quotas = quotaNames.filter((quota) => (added[quota] ?? 0) > 0)
        yield* store.lock(org, quotas)
        const exceeded = firstExceeded(yield* read(org, quotas, project ?? null), added)
        if (exceeded !== undefined) return yield* new QuotaExceeded(exceeded)
      })

      const takeOne = Effect.fn("Quotas.takeOne")(function* (org: OrgId, quota: QuotaName, held: number) {
        const allowed = (yield* allowedFor(org))(quota)
        if (held + 1 > allowed) return yield* new QuotaExceeded({ quota, held, allowed })
      })

      const takeCopy: Quotas["Service"]["takeCopy"] = Effect.fn("Quotas.takeCopy")(function* (org, { from, to }) {
        const bytes = from === null ? 0 : yield* store.bytesOf(from)
        const before = yield* store.bytesOf(to)
        // An empty database takes disk too, but how much is known only once it is measured.
        const more = before === 0 ? Math.max(1, bytes) : bytes - before
        if (more > 0) yield* take(org, { disk_bytes: more })
        if (bytes > before) yield* store.expectBytes(org, to, bytes)
      })

      const takeOrganization = Effect.fn("Quotas.takeOrganization")(function* (user: UserId, org: OrgId) {
        yield* take(personalOrgId(user), { organizations: 1 })
        yield* store.addFounder(org, user)
      })

      const usage = Effect.fn("Quotas.usage")(({ id, personal }: Pick<Organization, "id" | "personal">) =>
        read(
          id,
          quotaNames.filter((quota) => personal || quota !== "organizations"),
          null
        )
      )

      return Quotas.of({ take, takeCopy, takeOne, takeOrganization, usage })
    })
  )
}
