/**
 * Brings the roles of running computes in line with the store. A role that was revoked or has expired is removed from
 * its computes, together with its sessions. Roles that a compute has or lacks against the store are corrected.
 *
 * `RoleReconciler` schedules `apply_config`; `OperationRunner` performs it. Every step may run on several instances at
 * once, twice, or be interrupted anywhere: each branch is one transaction that checks its condition again under the
 * lock, and one unfinished operation that applies the roles is enough.
 *
 * A round looks at a limited number of branches and the next one goes on behind them, so that branches whose operations
 * are stuck do not keep others from their turn.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Ref, Schedule, Stream } from "effect"
import { becauseOf } from "../becauseOf.ts"
import type { BranchId } from "../Ids.ts"
import { ComputeDriver } from "../records/computes/ComputeDriver.ts"
import { EventFeed } from "../records/events/EventFeed.ts"
import { revocationOf } from "../records/events/InternalEvents.ts"
import { OperationStore } from "../records/operations/OperationStore.ts"
import { type BranchRef, BranchRoleStore } from "../records/projects/BranchRoleStore.ts"
import { BranchStore } from "../records/projects/BranchStore.ts"
import { EndpointStore } from "../records/projects/EndpointStore.ts"
import { ProjectStore } from "../records/projects/ProjectStore.ts"
import { QuotaStore } from "../records/quotas/QuotaStore.ts"
import type { StorageError } from "../StorageError.ts"
import { bySystem, type Operations } from "../services/operations/Operations.ts"
import { makeApplyRoles } from "../services/projects/applyRoles.ts"
import { Transaction } from "../Transaction.ts"
import { validRoles } from "./validRoles.ts"

/** How many branches one round of `endRoles` looks at. */
const batch = 100
/** How many computes one round of `compareRoles` asks. */
const compareBatch = 500
/** How long a compute may take to say whether its roles and rights differ. */
const askTimeout = Duration.seconds(5)
/** After so many rounds without an answer a difference is assumed: the operation corrects it, or fails where it is seen. */
const roundsUnanswered = 3
/** How many computes are asked at once. */
const asking = 4

export class RoleReconciler extends Context.Service<
  RoleReconciler,
  {
    /**
     * Schedules `apply_config` for branches whose compute may still have a role that has ended, and confirms the end
     * where no compute runs. Returns how many operations it scheduled.
     */
    readonly endRoles: Effect.Effect<number, StorageError>
    /**
     * Schedules `apply_config` for computes of this instance whose roles or rights differ from those that are valid.
     * Returns how many.
     */
    readonly compareRoles: Effect.Effect<number, StorageError>
  }
>()("@narthex/core/runner/RoleReconciler") {
  static readonly layer: Layer.Layer<
    RoleReconciler,
    never,
    | BranchRoleStore
    | BranchStore
    | ComputeDriver
    | EndpointStore
    | Operations
    | OperationStore
    | ProjectStore
    | QuotaStore
    | Transaction
  > = Layer.effect(
    RoleReconciler,
    Effect.gen(function* () {
      const branches = yield* BranchStore
      const driver = yield* ComputeDriver
      const endpoints = yield* EndpointStore
      const projects = yield* ProjectStore
      const quotas = yield* QuotaStore
      const roles = yield* BranchRoleStore
      const pending = yield* OperationStore
      const valid = (branch: BranchId) =>
        validRoles(branch).pipe(
          Effect.provideService(BranchRoleStore, roles),
          Effect.provideService(EndpointStore, endpoints),
          Effect.provideService(QuotaStore, quotas)
        )
      const { apply, applying, runs } = yield* makeApplyRoles
      const { run } = yield* Transaction
      const ended = yield* Ref.make<BranchId | null>(null)
      const compared = yield* Ref.make<BranchId | null>(null)
      /** The rounds in which a compute has not answered since its last answer. */
      const unanswered = new Map<BranchId, number>()

      /** A branch that fails is logged and has its turn again; the others go on. */
      const careful = (branch: BranchId, step: Effect.Effect<boolean, StorageError>) =>
        Effect.catchCause(step, (cause) =>
          Effect.logWarning("Reconciling the roles of a branch failed.").pipe(
            becauseOf(cause),
            Effect.annotateLogs("branch_id", branch),
            Effect.as(false)
          )
        )

      const schedule = Effect.fnUntraced(function* ({ branch_id, project_id }: BranchRef) {
        const project = Option.getOrUndefined(yield* projects.findAnywhere(project_id))
        if (project === undefined) return false
        return (yield* apply({ project, branch_id, initiator: bySystem })) !== undefined
      })

      /** No compute has the roles of this branch that have ended. */
      const confirmEnd = Effect.fnUntraced(function* (branch: BranchId, now: DateTime.Utc) {
        const removed = (yield* roles.present(branch)).filter((role) => !role.validAt(now)).map(({ role }) => role)
        yield* roles.confirm(branch, { applied: [], removed }, now)
      })

      const end = Effect.fnUntraced(function* (ref: BranchRef) {
        const branch = yield* branches.lock(ref.project_id, ref.branch_id)
        const now = yield* DateTime.now
        if (Option.isSome(branch)) {
          if ((yield* applying(ref.branch_id)) !== undefined) return false
          if (yield* runs(ref.branch_id)) return yield* schedule(ref)
        }
        // A compute whose record is gone runs until the operation that stops it has ended: so does that of a deleted
        // branch, whose deletion removes it whatever its roles are.
        if ((yield* pending.unfinished(ref.branch_id, { limit: 1 })).length > 0) return false
        yield* confirmEnd(ref.branch_id, now)
        return false
      })

      const endRoles = Effect.fn("RoleReconciler.endRoles")(function* () {
        const refs = yield* roles.ending(yield* DateTime.now, yield* Ref.get(ended), batch)
        yield* Ref.set(ended, refs.length < batch ? null : (refs.at(-1)?.branch_id ?? null))
        const done = yield* Effect.forEach(refs, (ref) => careful(ref.branch_id, run(end(ref))))
        return done.filter(Boolean).length
      })

      /** Schedules, unless the roles are being applied. */
      const correct = (branch_id: BranchId) =>
        Effect.gen(function* () {
          const found = Option.getOrUndefined(yield* branches.findAnywhere(branch_id))
          if (found === undefined) return false
          yield* branches.lock(found.project_id, branch_id)
          if ((yield* applying(branch_id)) !== undefined) return false
          return yield* schedule({ branch_id, project_id: found.project_id })
        })

      /** Whether a compute that did not answer has not done so for too many rounds. */
      const isDue = Effect.fnUntraced(function* (branch: BranchId, error: Error) {
        const rounds = (unanswered.get(branch) ?? 0) + 1
        const due = rounds >= roundsUnanswered
        unanswered.set(branch, due ? 0 : rounds)
        yield* Effect.logWarning("The roles of a compute could not be compared with those that are valid.").pipe(
          becauseOf(error),
          Effect.annotateLogs("branch_id", branch)
        )
        return due
      })

      const compare = Effect.fnUntraced(function* (branch: BranchId) {
        const needs = yield* driver.needsRoles(branch, yield* valid(branch)).pipe(
          Effect.timeout(askTimeout),
          Effect.tap(() => Effect.sync(() => unanswered.delete(branch))),
          Effect.catchTag(["ComputeFailed", "TimeoutError"], (error) => isDue(branch, error))
        )
        return needs && (yield* run(correct(branch)))
      })

      const compareRoles = Effect.fn("RoleReconciler.compareRoles")(function* () {
        const running = yield* Effect.option(driver.running)
        const all = [...new Set(Option.getOrElse(running, () => []).map(({ branch_id }) => branch_id))].toSorted()
        for (const branch of unanswered.keys()) if (!all.includes(branch)) unanswered.delete(branch)
        const last = yield* Ref.get(compared)
        const left = all.filter((branch) => last === null || branch > last)
        const turn = left.slice(0, compareBatch)
        yield* Ref.set(compared, left.length > compareBatch ? (turn.at(-1) ?? null) : null)
        const done = yield* Effect.forEach(turn, (branch) => careful(branch, compare(branch)), { concurrency: asking })
        return done.filter(Boolean).length
      })

      return RoleReconciler.of({ endRoles: endRoles(), compareRoles: compareRoles() })
    })
  )

  /**
   * Works as long as its scope lives: ends roles every second, and at once when an event takes a right away; compares
   * at the start and every minute.
   */
  static readonly layerLoop: Layer.Layer<never, never, RoleReconciler | EventFeed> = Layer.effectDiscard(
    Effect.gen(function* () {
      const { compareRoles, endRoles } = yield* RoleReconciler
      const { events } = yield* EventFeed
      const careful = (name: string, step: Effect.Effect<number, StorageError>) =>
        Effect.catchCause(step, (cause) => Effect.logWarning(`${name} failed.`).pipe(becauseOf(cause), Effect.as(0)))
      const ending = careful("Ending database credentials", endRoles)
      const revocations = Stream.filter(events, (event) => Option.isSome(revocationOf(event)))
      yield* Effect.forkScoped(Effect.repeat(ending, Schedule.spaced("1 second")))
      yield* Effect.forkScoped(Stream.runForEach(revocations, () => ending))
      yield* Effect.forkScoped(
        Effect.repeat(careful("Comparing the roles of computes", compareRoles), Schedule.spaced("1 minute"))
      )
    })
  )
}
