/** Faults of a simulation: as the seed decides, the machines fail and are slow, and storage does not answer. */
import { Duration, Effect, Layer } from "effect"
import { ComputeDriver, ComputeFailed } from "../../src/records/computes/ComputeDriver.ts"
import { layerMemoryComputes } from "../../src/records/computes/MemoryComputes.ts"
import { StorageError } from "../../src/StorageError.ts"
import { Transaction } from "../../src/Transaction.ts"
import type { Chance } from "./Chance.ts"
import { SimulatedTime } from "./SimulatedTime.ts"

/** How often something goes wrong, from 0 to 1. */
export interface Faults {
  /** A call of the compute driver fails, before it had an effect or after it. Operations are tried again. */
  readonly compute: number
  /** A call of the compute driver takes up to this long. */
  readonly compute_delay: Duration.Duration
  /** A transaction fails with `StorageError`, and changes nothing. Calls of the API answer 503 then. */
  readonly storage: number
}

/** Machines as they are; storage that answers. */
export const defaultFaults: Faults = { compute: 0.05, compute_delay: Duration.seconds(5), storage: 0 }

/** Nothing goes wrong, and machines answer at once. */
export const noFaults: Faults = { compute: 0, compute_delay: Duration.zero, storage: 0 }

export const layerFaultyComputes = (chance: Chance, faults: Faults): Layer.Layer<ComputeDriver, never, SimulatedTime> =>
  Layer.effect(
    ComputeDriver,
    Effect.gen(function* () {
      const driver = yield* ComputeDriver
      const { exactly, happens } = yield* SimulatedTime
      const fails = Effect.suspend(() =>
        chance.hits(faults.compute)
          ? Effect.fail(new ComputeFailed({ reason: "The machine did not answer.", retryable: true }))
          : Effect.void
      )
      const takes = Effect.andThen(
        happens,
        Effect.suspend(() => exactly(Duration.millis(chance.below(Duration.toMillis(faults.compute_delay)))))
      )
      const exposed = <A>(call: Effect.Effect<A, ComputeFailed>) =>
        takes.pipe(
          Effect.andThen(fails),
          Effect.andThen(call),
          Effect.tap(() => fails)
        )
      return ComputeDriver.of({
        createBranch: (branch, parent) => exposed(driver.createBranch(branch, parent)),
        resetBranch: (branch, parent) => exposed(driver.resetBranch(branch, parent)),
        deleteBranch: (branch) => exposed(driver.deleteBranch(branch)),
        start: (start) => exposed(driver.start(start)),
        stop: (endpoint) => exposed(driver.stop(endpoint)),
        applyRoles: (branch, roles) => exposed(driver.applyRoles(branch, roles)),
        needsRoles: driver.needsRoles,
        running: driver.running,
        diskUsage: driver.diskUsage
      })
    })
  ).pipe(Layer.provide(layerMemoryComputes))

export const layerFaultyTransactions = (
  chance: Chance,
  faults: Faults
): Layer.Layer<Transaction, never, Transaction | SimulatedTime> =>
  Layer.effect(
    Transaction,
    Effect.gen(function* () {
      const { happens } = yield* SimulatedTime
      const { emit, run, ...rest } = yield* Transaction
      return Transaction.of({
        ...rest,
        emit: (event) => Effect.andThen(happens, emit(event)),
        run: (work) =>
          Effect.suspend(() =>
            chance.hits(faults.storage)
              ? Effect.fail(
                  new StorageError({ operation: "Transaction.run", cause: "the simulated storage did not answer" })
                )
              : run(work)
          )
      })
    })
  )
