/** A commit whose events another instance may have left behind, because it was sequencing at the time. */
import { assert, it } from "@effect/vitest"
import { EventLog, OrgId, Transaction } from "@narthex/core"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Database, PostgresTransaction } from "../../src/index.ts"

/** A log that another instance has for a number of calls, and what it was asked for. */
class Log {
  busy = 0
  sequenced = 0
  woken = 0

  readonly layer = Layer.mergeAll(
    Layer.mock(EventLog, {
      append: () => Effect.void,
      sequence: Effect.sync(() => {
        this.sequenced += 1
        this.busy -= 1
        return this.busy >= 0 ? "busy" : "idle"
      }),
      wake: Effect.sync(() => {
        this.woken += 1
      })
    }),
    Layer.mock(Database, { schema: "narthex", transaction: (work) => work, join: (_, work) => work })
  )
}

const commit = Transaction.use(({ emit, run }) =>
  run(
    emit({
      org_id: OrgId.make("01a216b2-c372-75d3-9695-525063b31af4"),
      project_id: null,
      type: "project.updated.v1",
      source: "operations",
      internal: false,
      data: {}
    })
  )
)

const after = (busy: number) =>
  Effect.gen(function* () {
    const log = new Log()
    log.busy = busy
    yield* Effect.gen(function* () {
      yield* commit
      yield* TestClock.adjust("1 second")
    }).pipe(Effect.provide(Layer.provide(PostgresTransaction.layer, log.layer)))
    return { sequenced: log.sequenced, woken: log.woken }
  })

it.effect(
  "a commit gives its events their ids as soon as the other instance has ended, and then tells the reader",
  () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* after(0), { sequenced: 1, woken: 1 })
      assert.deepStrictEqual(yield* after(5), { sequenced: 6, woken: 1 })
    })
)

it.effect("a commit tries for as long as a poll takes to come, and leaves its events to the poll", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* after(1_000), { sequenced: 8, woken: 1 })
  })
)
