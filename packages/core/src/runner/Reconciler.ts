/**
 * Brings records and computes in line with the clock and with what runs: suspends idle computes, ends expired branches,
 * and records that a compute is lost.
 *
 * `Reconciler` schedules operations; `OperationRunner` performs them. Every step may run on several instances at once,
 * twice, or be interrupted anywhere: each is one transaction that checks its condition again under the lock.
 */
import { Context, DateTime, Effect, Layer, Option, Schedule, Schema } from "effect"
import { becauseOf } from "../becauseOf.ts"
import { type Compute, ComputeDriver } from "../records/computes/ComputeDriver.ts"
import type { ApiKeyStore } from "../records/keys/ApiKeyStore.ts"
import type { OperationStore } from "../records/operations/OperationStore.ts"
import type { Branch } from "../records/projects/Branch.ts"
import type { BranchRoleStore } from "../records/projects/BranchRoleStore.ts"
import { BranchStore } from "../records/projects/BranchStore.ts"
import { type ComputeDoubt, ComputeDoubtStore } from "../records/projects/ComputeDoubtStore.ts"
import { ComputeReach, Endpoint, withoutCompute } from "../records/projects/Endpoint.ts"
import { EndpointStore } from "../records/projects/EndpointStore.ts"
import { type EndpointUse, isIdle, usage } from "../records/projects/EndpointUse.ts"
import { ProjectStore } from "../records/projects/ProjectStore.ts"
import type { StorageError } from "../StorageError.ts"
import { bySystem, type Operations } from "../services/operations/Operations.ts"
import { Endpoints } from "../services/projects/Endpoints.ts"
import { makeEndBranch } from "../services/projects/endBranch.ts"
import { Transaction } from "../Transaction.ts"
import { RunnerPolicy } from "./RunnerPolicy.ts"

const isSameReach = Schema.toEquivalence(Schema.NullOr(ComputeReach))

/** How many expired branches one round ends, and how many doubts it settles, at most. */
const batch = 100
/** How many active endpoints are read at once, to find those whose compute is lost. */
const activeBatch = 1_000

export class Reconciler extends Context.Service<
  Reconciler,
  {
    /** Schedules the suspend of idle computes. Returns how many. */
    readonly suspendIdle: Effect.Effect<number, StorageError>
    /** Ends branches that have expired and have no children. Returns how many. */
    readonly endExpired: Effect.Effect<number, StorageError>
    /** Records endpoints of the runner's region as suspended whose compute does not run any more. Returns how many. */
    readonly recordLost: Effect.Effect<number, StorageError>
    /**
     * As `recordLost`, for the computes that proxies could not connect to, and removes those doubts. Returns how many
     * are lost. While the driver cannot tell, the doubts stand.
     */
    readonly settleDoubts: Effect.Effect<number, StorageError>
  }
>()("@narthex/core/runner/Reconciler") {
  static readonly layer: Layer.Layer<
    Reconciler,
    never,
    | ApiKeyStore
    | BranchRoleStore
    | BranchStore
    | ComputeDoubtStore
    | ComputeDriver
    | Endpoints
    | EndpointStore
    | Operations
    | OperationStore
    | ProjectStore
    | Transaction
  > = Layer.effect(
    Reconciler,
    Effect.gen(function* () {
      const branches = yield* BranchStore
      const doubts = yield* ComputeDoubtStore
      const driver = yield* ComputeDriver
      const endpoints = yield* Endpoints
      const projects = yield* ProjectStore
      const store = yield* EndpointStore
      const endBranch = yield* makeEndBranch
      const { run } = yield* Transaction
      const { region } = yield* RunnerPolicy

      const suspend = Effect.fnUntraced(function* ({ endpoint_id: id }: EndpointUse) {
        const endpoint = Option.getOrUndefined(yield* store.lock(id))
        const use = Option.getOrUndefined(yield* store.use(id))
        if (endpoint === undefined || use === undefined || !isIdle(endpoint, use)) return false
        const project = Option.getOrUndefined(yield* projects.findAnywhere(endpoint.project_id))
        if (project === undefined) return false
        const { operations: made } = yield* endpoints
          .setDesiredState(project, id, "idle", bySystem)
          .pipe(
            Effect.catchTag(["Conflict", "NotFound", "QuotaExceeded", "ResourceBusy"], () =>
              Effect.succeed({ operations: [] })
            )
          )
        return made.length > 0
      })

      const suspendIdle = Effect.fn("Reconciler.suspendIdle")(function* () {
        const idle = (yield* store.unused).filter((use) => usage(use) === "idle")
        const done = yield* Effect.forEach(idle, (use) => run(suspend(use)))
        return done.filter(Boolean).length
      })

      const end = Effect.fnUntraced(function* (given: Branch) {
        const now = yield* DateTime.now
        const branch = Option.getOrUndefined(yield* branches.lock(given.project_id, given.id))
        const project = Option.getOrUndefined(yield* projects.findAnywhere(given.project_id))
        const over = branch?.expires_at != null && DateTime.isLessThanOrEqualTo(branch.expires_at, now)
        if (branch === undefined || project === undefined || !over || branch.main) return false
        if (yield* branches.hasChildren(branch.id)) return false
        yield* endBranch(project, branch, bySystem)
        return true
      })

      const endExpired = Effect.fn("Reconciler.endExpired")(function* () {
        const over = yield* branches.expired(yield* DateTime.now, batch)
        const done = yield* Effect.forEach(over, (branch) => run(end(branch)))
        return done.filter(Boolean).length
      })

      /** The locked endpoint, if it still is to run in this generation. */
      const stillRunning = Effect.fnUntraced(function* ({ endpoint_id, generation }: ComputeDoubt) {
        const endpoint = Option.getOrUndefined(yield* store.lock(endpoint_id))
        return endpoint === undefined || !endpoint.running || endpoint.generation !== generation ? undefined : endpoint
      })

      /** Records the endpoint as suspended if it still is to run in this generation. */
      const markLost = Effect.fnUntraced(function* (compute: ComputeDoubt) {
        const endpoint = yield* stillRunning(compute)
        if (endpoint === undefined) return false
        const { endpoint_id } = compute
        yield* Effect.annotateLogs(Effect.logWarning("A compute is lost. Its endpoint is recorded as suspended."), {
          endpoint_id
        })
        const now = yield* DateTime.now
        yield* store.put(new Endpoint({ ...endpoint, ...withoutCompute, suspended_at: now, updated_at: now }))
        return true
      })

      const keyOf = ({ endpoint_id, generation }: ComputeDoubt) => `${endpoint_id} ${generation}`

      /**
       * The computes that run, by `keyOf`.
       *
       * Pitfall: reading the records after this. A compute that starts in between would count as lost.
       */
      const present = Effect.map(driver.running, (running) => new Map(running.map((it) => [keyOf(it), it])))

      /** Records how a compute is reached, if it still runs in this generation. */
      const recordReach = Effect.fnUntraced(function* (compute: Compute) {
        const endpoint = yield* stillRunning(compute)
        if (endpoint === undefined) return
        yield* store.put(new Endpoint({ ...endpoint, reach: compute.reach ?? null, updated_at: yield* DateTime.now }))
      })

      /**
       * Computes that are reached in another way than is recorded: an earlier version has started them, or the operator has changed
       * how. Until then a proxy would reach them without TLS.
       */
      const recordReaches = Effect.fnUntraced(function* (
        active: ReadonlyArray<Endpoint>,
        running: ReadonlyMap<string, Compute>
      ) {
        for (const { generation, id, reach } of active) {
          const compute = running.get(keyOf({ endpoint_id: id, generation }))
          if (compute !== undefined && !isSameReach(compute.reach ?? null, reach)) yield* run(recordReach(compute))
        }
      })

      const recordLost = Effect.fn("Reconciler.recordLost")(function* () {
        let count = 0
        let last: Endpoint["id"] | null = null
        while (true) {
          const page: ReadonlyArray<Endpoint> = yield* store.active(region, last, activeBatch)
          const active = page.filter((it) => it.running)
          const running = yield* Effect.option(present)
          if (Option.isNone(running)) return count
          const lost = active
            .map(({ generation, id }) => ({ endpoint_id: id, generation }))
            .filter((it) => !running.value.has(keyOf(it)))
          const done = yield* Effect.forEach(lost, (it) => run(markLost(it)))
          count += done.filter(Boolean).length
          yield* recordReaches(active, running.value)
          last = page.at(-1)?.id ?? null
          if (last === null || page.length < activeBatch) return count
        }
      })

      const settleDoubts = Effect.fn("Reconciler.settleDoubts")(function* () {
        const doubted = yield* doubts.oldest(region, batch)
        if (doubted.length === 0) return 0
        const running = yield* Effect.option(present)
        if (Option.isNone(running)) return 0
        const isLost = (it: ComputeDoubt) => !running.value.has(keyOf(it))
        const done = yield* Effect.forEach(doubted, (it) =>
          run(Effect.tap(isLost(it) ? markLost(it) : Effect.succeed(false), () => doubts.remove(it)))
        )
        return done.filter(Boolean).length
      })

      return Reconciler.of({
        suspendIdle: suspendIdle(),
        endExpired: endExpired(),
        recordLost: recordLost(),
        settleDoubts: settleDoubts()
      })
    })
  )

  /**
   * Works as long as its scope lives. Doubts are settled four times a second, because a client waits; idle computes are
   * suspended and expired branches are ended every second; lost computes are recorded at the start and every ten
   * seconds. A step that fails is logged and repeated with the next round.
   */
  static readonly layerLoop: Layer.Layer<never, never, Reconciler> = Layer.effectDiscard(
    Effect.gen(function* () {
      const { endExpired, recordLost, settleDoubts, suspendIdle } = yield* Reconciler
      const careful = (name: string, step: Effect.Effect<number, StorageError>) =>
        Effect.catchCause(step, (cause) => Effect.logWarning(`${name} failed.`).pipe(becauseOf(cause), Effect.as(0)))
      const round = Effect.andThen(
        careful("Suspending idle computes", suspendIdle),
        careful("Ending expired branches", endExpired)
      )
      const lost = careful("Recording lost computes", recordLost)
      yield* lost
      yield* Effect.forkScoped(Effect.repeat(round, Schedule.spaced("1 second")))
      yield* Effect.forkScoped(Effect.delay(Effect.repeat(lost, Schedule.spaced("10 seconds")), "10 seconds"))
      yield* Effect.forkScoped(
        Effect.repeat(careful("Verifying computes", settleDoubts), Schedule.spaced("250 millis"))
      )
    })
  )
}
