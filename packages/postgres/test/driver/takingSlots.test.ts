/** The slots of requests at connections: in which order they are served, and that they come back however the work ends. */
import { assert, describe, it } from "@effect/vitest"
import { Requester } from "@narthex/core"
import { Deferred, Duration, Effect, Fiber } from "effect"
import { type NotDone, StatementLimit } from "../../src/driver/Attempt.ts"
import { slotsOf, takingSlots } from "../../src/driver/takingSlots.ts"

const asked = (by: string | null) => Effect.provideService(Requester, by)

const slotsAt = (connections: number) => {
  const taking = takingSlots(connections)
  return <A, E, R>(work: Effect.Effect<A, E, R>) => taking(work, (cause: NotDone) => cause.message)
}

/** Work that holds the only slot until it is ended. */
const held = Effect.fnUntraced(function* (slot: ReturnType<typeof slotsAt>) {
  const [begun, end] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const fiber = yield* Effect.forkChild(
    asked("holder")(slot(Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(end))))
  )
  yield* Deferred.await(begun)
  return { fiber, end: Deferred.succeed(end, undefined) }
})

describe("slots at connections", () => {
  it("a fifth of the connections is for the platform, and half of the others for a credential", () => {
    assert.deepStrictEqual(
      [1, 2, 4, 6, 10, 20].map((connections) => {
        const { all, per_credential } = slotsOf(connections)
        return [connections, all, per_credential]
      }),
      [
        [1, 1, 1],
        [2, 1, 1],
        [4, 3, 2],
        [6, 4, 2],
        [10, 8, 4],
        [20, 16, 8]
      ]
    )
  })

  it.effect("a credential whose work does not end leaves half of the slots to others", () =>
    Effect.gen(function* () {
      const slot = slotsAt(5)
      const stuck = yield* Effect.forEach(Array.from({ length: 10 }), () =>
        Effect.forkChild(asked("a")(slot(Effect.never)), { startImmediately: true })
      )
      assert.strictEqual(yield* asked("b")(slot(Effect.succeed("done"))), "done")
      yield* Fiber.interruptAll(stuck)
      assert.strictEqual(yield* asked("a")(slot(Effect.succeed("done"))), "done")
    })
  )

  it.effect("credentials that wait are served in turn, however much one of them asks for", () =>
    Effect.gen(function* () {
      const slot = slotsAt(1)
      const order: Array<string> = []
      const { end } = yield* held(slot)
      const waiting = yield* Effect.forEach(["a", "a", "b", "b", "c", "a"], (by) =>
        Effect.forkChild(asked(by)(slot(Effect.sync(() => order.push(by)))), { startImmediately: true })
      )
      yield* end
      yield* Fiber.joinAll(waiting)
      assert.deepStrictEqual(order, ["a", "b", "c", "a", "b", "a"])
    })
  )

  it.effect("work that is interrupted, or fails, or does not get its slot in time, gives it back", () =>
    Effect.gen(function* () {
      const slot = slotsAt(1)
      const holder = yield* held(slot)
      const leaving = yield* Effect.forkChild(asked("b")(slot(Effect.void)), { startImmediately: true })
      yield* Fiber.interrupt(leaving)
      const late = Effect.provideService(asked("b")(slot(Effect.void)), StatementLimit, Duration.millis(20))
      assert.strictEqual(yield* Effect.flip(late), "Postgres took too long.")
      yield* Fiber.interrupt(holder.fiber)
      assert.strictEqual(yield* Effect.flip(asked("b")(slot(Effect.fail("failed")))), "failed")
      assert.strictEqual(yield* asked("b")(slot(Effect.succeed("done"))), "done")
    })
  )

  it.effect("a credential waits for its own work no longer than for a slot, and then holds nothing", () =>
    Effect.gen(function* () {
      const slot = slotsAt(5)
      const stuck = yield* Effect.forEach(["a", "a"], (by) =>
        Effect.forkChild(asked(by)(slot(Effect.never)), { startImmediately: true })
      )
      const late = Effect.provideService(asked("a")(slot(Effect.void)), StatementLimit, Duration.millis(20))
      assert.strictEqual(yield* Effect.flip(late), "Postgres took too long.")
      yield* Fiber.interruptAll(stuck)
      const both = yield* Effect.forEach(["a", "a"], () => Effect.forkChild(asked("a")(slot(Effect.succeed("done")))))
      assert.deepStrictEqual(yield* Fiber.joinAll(both), ["done", "done"])
    })
  )

  it.effect("the platform's own work takes no slot", () =>
    Effect.gen(function* () {
      const slot = slotsAt(1)
      const own = asked(null)(slot(Effect.succeed("done")))
      assert.strictEqual(yield* asked("a")(slot(own)), "done")
    })
  )
})
