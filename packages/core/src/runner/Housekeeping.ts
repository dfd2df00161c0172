/**
 * What happens to projects without anybody asking: idle computes are suspended, branches end with their time, and
 * computes that a crash took away are put on record.
 *
 * Every step may run on any instance, twice, or be cut off anywhere: each is one transaction that looks again first.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Schedule } from "effect"
import type { ApiKeyStore } from "../keys/ApiKeyStore.ts"
import { ComputeDriver } from "../computes/ComputeDriver.ts"
import { bySystem, type Operations } from "../operations/Operations.ts"
import type { StorageError } from "../StorageError.ts"
import { Transaction } from "../Transaction.ts"
import type { Branch } from "../projects/Branch.ts"
import { BranchStore } from "../projects/BranchStore.ts"
import { makeEndBranch } from "../provisioning/endBranch.ts"
import { Endpoint } from "../projects/Endpoint.ts"
import { EndpointStore } from "../projects/EndpointStore.ts"
import { Endpoints } from "../provisioning/Endpoints.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"

/** Has nobody used the compute for as long as its endpoint allows? */
export const isIdle = (endpoint: Endpoint, now: DateTime.Utc): boolean => {
  if (!endpoint.running || endpoint.suspend_timeout_seconds === -1) return false
  const since = endpoint.last_active_at ?? endpoint.started_at ?? endpoint.updated_at
  return DateTime.isGreaterThanOrEqualTo(
    now,
    DateTime.addDuration(since, Duration.seconds(endpoint.suspend_timeout_seconds))
  )
}

const batch = 100

export class Housekeeping extends Context.Service<
  Housekeeping,
  {
    /** Suspends what is idle; answers how many. */
    readonly suspendIdle: Effect.Effect<number, StorageError>
    /** Ends branches whose time is over; answers how many. */
    readonly endExpired: Effect.Effect<number, StorageError>
    /** Takes endpoints as suspended whose compute does not run any more. */
    readonly reconcile: Effect.Effect<number, StorageError>
  }
>()("@narthex/core/runner/Housekeeping") {
  static readonly layer: Layer.Layer<
    Housekeeping,
    never,
    ApiKeyStore | BranchStore | ComputeDriver | Endpoints | EndpointStore | Operations | ProjectStore | Transaction
  > = Layer.effect(
    Housekeeping,
    Effect.gen(function* () {
      const branches = yield* BranchStore
      const driver = yield* ComputeDriver
      const endpoints = yield* Endpoints
      const projects = yield* ProjectStore
      const store = yield* EndpointStore
      const { endBranch } = yield* makeEndBranch
      const { run } = yield* Transaction

      const suspend = Effect.fnUntraced(function* ({ id }: Endpoint) {
        const endpoint = Option.getOrUndefined(yield* store.lock(id))
        if (endpoint === undefined || !isIdle(endpoint, yield* DateTime.now)) return false
        const project = Option.getOrUndefined(yield* projects.findAnywhere(endpoint.project_id))
        if (project === undefined) return false
        const { operations: made } = yield* endpoints
          .head(project, id, "idle", bySystem)
          .pipe(Effect.catchTag(["Conflict", "NotFound"], () => Effect.succeed({ operations: [] })))
        return made.length > 0
      })

      const suspendIdle = Effect.fn("Housekeeping.suspendIdle")(function* () {
        const now = yield* DateTime.now
        const idle = (yield* store.active).filter((endpoint) => isIdle(endpoint, now))
        const done = yield* Effect.forEach(idle, (endpoint) => run(suspend(endpoint)))
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

      const endExpired = Effect.fn("Housekeeping.endExpired")(function* () {
        const over = yield* branches.expired(yield* DateTime.now, batch)
        const done = yield* Effect.forEach(over, (branch) => run(end(branch)))
        return done.filter(Boolean).length
      })

      const reconcile = Effect.fn("Housekeeping.reconcile")(function* () {
        // Asked after the records were read: a compute that started in between must not be taken for lost.
        const active = (yield* store.active).filter((it) => it.running)
        const running = yield* Effect.option(driver.running)
        if (Option.isNone(running)) return 0
        const there = new Set(running.value.map((it) => `${it.endpoint_id} ${it.generation}`))
        const lost = active.filter((it) => !there.has(`${it.id} ${it.generation}`))
        yield* Effect.forEach(lost, ({ generation, id }) =>
          run(
            Effect.gen(function* () {
              const endpoint = Option.getOrUndefined(yield* store.lock(id))
              if (endpoint === undefined || !endpoint.running || endpoint.generation !== generation) return
              const now = yield* DateTime.now
              const asleep = { current_state: "idle", address: null, connections: 0 } as const
              yield* store.put(new Endpoint({ ...endpoint, ...asleep, suspended_at: now, updated_at: now }))
            })
          )
        )
        return lost.length
      })

      return Housekeeping.of({ suspendIdle: suspendIdle(), endExpired: endExpired(), reconcile: reconcile() })
    })
  )

  /** Runs all of it as long as its scope lives: at once, and then every second. */
  static readonly layerLoop: Layer.Layer<never, never, Housekeeping> = Layer.effectDiscard(
    Effect.gen(function* () {
      const { endExpired, reconcile, suspendIdle } = yield* Housekeeping
      const careful = (name: string, step: Effect.Effect<number, StorageError>) =>
        Effect.catchCause(step, (cause) => Effect.as(Effect.logWarning(`${name} has to be tried again.`, cause), 0))
      const round = Effect.andThen(
        careful("Suspending idle computes", suspendIdle),
        careful("Ending branches", endExpired)
      )
      yield* careful("Reconciling computes", reconcile)
      yield* Effect.forkScoped(Effect.repeat(round, Schedule.spaced("1 second")))
    })
  )
}
