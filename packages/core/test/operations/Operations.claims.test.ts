/** Scheduling and claiming in one transaction: what a place gets, whatever becomes of the transaction. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer } from "effect"
import { StoredOperation } from "../../src/records/operations/Operation.ts"
import type { OperationClass } from "../../src/records/operations/OperationClass.ts"
import type { ClaimedOperation } from "../../src/records/operations/TakenPlace.ts"
import { StorageError } from "../../src/StorageError.ts"
import { Operations } from "../../src/services/operations/Operations.ts"
import { Transaction } from "../../src/Transaction.ts"
import { aBranchId, anOperation, aProjectId } from "../../testing/records.ts"
import { Core } from "../memory/core.ts"

const [mine, other] = [anOperation(aProjectId(), aBranchId()), anOperation(aProjectId(), aBranchId())]

type Run = Transaction["Service"]["run"]

/**
 * `scheduleAndClaim` with this transaction, and one place of the class `computes` whose claim finds `found`. Returns what
 * happened outside of the transaction.
 */
const observed = Effect.fnUntraced(function* (
  run: Run,
  found: StoredOperation | undefined,
  works: ReadonlyArray<ReadonlyArray<StoredOperation>>,
  of: OperationClass = "computes"
) {
  const stub = Layer.succeed(Transaction, { ...(yield* Transaction), run })
  const context = yield* Layer.build(Layer.fresh(Operations.layer).pipe(Layer.provide(stub)))
  const { offerPlaces, onHint, scheduleAndClaim } = Context.get(context, Operations)
  const seen: Array<readonly [string, ...ReadonlyArray<unknown>]> = []
  const claimed: ClaimedOperation | undefined = found && { operation: found, running: undefined }
  let free = 1
  yield* offerPlaces({
    of: "computes",
    take: Effect.sync(() => {
      if (free === 0) return undefined
      free -= 1
      return {
        claim: () => Effect.succeed(claimed),
        leave: (what, committed) => Effect.sync(() => void seen.push(["left", what?.operation.id, committed]))
      }
    })
  })
  yield* onHint(({ id }) => Effect.sync(() => void seen.push(["hinted", id])))
  let turn = 0
  const work = Effect.sync(() => ({ operations: works[turn++] ?? [] }))
  const exit = yield* Effect.exit(scheduleAndClaim(of, work))
  return { seen, succeeded: Exit.isSuccess(exit) }
})

const once: Run = (work) => work
const twice: Run = (work) => Effect.andThen(work, work)
const unknown: Run = (work) =>
  Effect.andThen(work, Effect.fail(new StorageError({ operation: "commit", cause: "the connection is lost" })))

describe("Scheduling and claiming at once", () => {
  it.effect("an operation that is claimed as it is scheduled is performed, and not hinted at", () =>
    Effect.gen(function* () {
      const { seen } = yield* observed(once, mine, [[mine]])
      assert.deepStrictEqual(seen, [["left", mine.id, true]])
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("an operation is hinted at where another one was claimed, or none", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* observed(once, other, [[mine]])).seen, [
        ["hinted", mine.id],
        ["left", other.id, true]
      ])
      assert.deepStrictEqual((yield* observed(once, undefined, [[mine]])).seen, [
        ["hinted", mine.id],
        ["left", undefined, true]
      ])
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("a place of another class is not taken", () =>
    Effect.gen(function* () {
      const { seen } = yield* observed(once, mine, [[mine]], "roles")
      assert.deepStrictEqual(seen, [["hinted", mine.id]])
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("an operation that has begun already is not claimed for", () =>
    Effect.gen(function* () {
      const running = new StoredOperation({ ...mine, status: "running" })
      const { seen } = yield* observed(once, other, [[running]])
      assert.deepStrictEqual(seen, [
        ["hinted", mine.id],
        ["left", undefined, true]
      ])
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("a claim of the first run of a transaction is forgotten when the transaction runs again", () =>
    Effect.gen(function* () {
      const { seen } = yield* observed(twice, mine, [[mine], []])
      assert.deepStrictEqual(seen, [["left", undefined, true]])
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("a claim whose commit has an unknown outcome is left as such", () =>
    Effect.gen(function* () {
      const { seen, succeeded } = yield* observed(unknown, mine, [[mine]])
      assert.isFalse(succeeded)
      assert.deepStrictEqual(seen, [["left", mine.id, false]])
    }).pipe(Effect.scoped, Effect.provide(Core))
  )
})
