/** Reads that requests share: who gets which answer. */
import { assert, it } from "@effect/vitest"
import { Transaction } from "@narthex/core"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { sharing } from "../../src/middleware/sharing.ts"

/** A state, and a read of it that ends when it is told to. It sees the state of its beginning, as a statement does. */
const world = Effect.gen(function* () {
  const gates: Array<Deferred.Deferred<void>> = []
  const state = { value: "valid", reads: 0 }
  const read = Effect.suspend(() => {
    const { value } = state
    const gate = Deferred.makeUnsafe<void>()
    gates.push(gate)
    state.reads += 1
    return Effect.andThen(
      Deferred.await(gate),
      value === "unreadable" ? Effect.fail("unreadable") : Effect.succeed(value)
    )
  })
  const share = sharing<string, string>()
  /** Lets others run until so many reads have begun. */
  const begun = (count: number, turns = 1_000): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (state.reads >= count) return Effect.void
      if (turns === 0) return Effect.die(new Error(`${state.reads} reads have begun, not ${count}.`))
      return Effect.andThen(Effect.yieldNow, begun(count, turns - 1))
    })
  const open = Effect.suspend(() => Effect.forEach(gates, (gate) => Deferred.succeed(gate, undefined)))
  return {
    state,
    begun,
    open,
    ask: (key = "session", inside = <A, E>(it: Effect.Effect<A, E>): Effect.Effect<A, E> => it) =>
      Effect.forkChild(inside(share(key, read)), { startImmediately: true })
  }
})

it.effect("requests that arrive together share one read, and others have their own", () =>
  Effect.gen(function* () {
    const { ask, begun, open, state } = yield* world
    const fibers = [yield* ask(), yield* ask(), yield* ask("another session")]
    yield* begun(2)
    yield* open
    assert.deepStrictEqual(yield* Effect.forEach(fibers, Fiber.join), ["valid", "valid", "valid"])
    assert.strictEqual(state.reads, 2)
  })
)

it.effect("a request that arrives after a read began does not get its answer", () =>
  Effect.gen(function* () {
    const { ask, begun, open, state } = yield* world
    const before = yield* ask()
    yield* begun(1)
    state.value = "revoked"
    const after = yield* ask()
    yield* begun(2)
    yield* open
    assert.deepStrictEqual([yield* Fiber.join(before), yield* Fiber.join(after)], ["valid", "revoked"])
  })
)

it.effect("a change between the request and the beginning of its read is seen", () =>
  Effect.gen(function* () {
    const { ask, begun, open, state } = yield* world
    const fibers = [yield* ask(), yield* ask()]
    state.value = "revoked"
    yield* begun(1)
    yield* open
    assert.deepStrictEqual(yield* Effect.forEach(fibers, Fiber.join), ["revoked", "revoked"])
  })
)

it.effect("the first that asked may leave, and the others get their answer", () =>
  Effect.gen(function* () {
    const { ask, begun, open } = yield* world
    const first = yield* ask()
    const second = yield* ask()
    yield* Fiber.interrupt(first)
    yield* begun(1)
    yield* open
    assert.strictEqual(yield* Fiber.join(second), "valid")
  })
)

it.effect("the first that asked may leave while the read runs, and the others get their answer", () =>
  Effect.gen(function* () {
    const { ask, begun, open } = yield* world
    const first = yield* ask()
    const second = yield* ask()
    yield* begun(1)
    yield* Fiber.interrupt(first)
    yield* open
    assert.strictEqual(yield* Fiber.join(second), "valid")
  })
)

it.effect("a read that no request waits for is not made", () =>
  Effect.gen(function* () {
    const { ask, begun, open, state } = yield* world
    yield* Fiber.interrupt(yield* ask())
    const other = yield* ask("another session")
    yield* begun(1)
    assert.strictEqual(state.reads, 1)
    yield* Fiber.interrupt(other)
    const next = yield* ask()
    yield* begun(2)
    yield* open
    assert.strictEqual(yield* Fiber.join(next), "valid")
    assert.strictEqual(state.reads, 2)
  })
)

it.effect("reads that are asked for in one turn begin in one turn", () =>
  Effect.gen(function* () {
    const { ask, begun, state } = yield* world
    yield* Effect.forEach(["one", "two", "three"], (key) => ask(key))
    assert.strictEqual(state.reads, 0)
    const turns: Array<number> = []
    const watching = yield* Effect.forkChild(
      Effect.gen(function* () {
        for (let turn = 0; turn < 10; turn++) {
          turns.push(state.reads)
          yield* Effect.yieldNow
        }
      })
    )
    yield* begun(3)
    yield* Fiber.join(watching)
    assert.isTrue(
      turns.every((reads) => reads === 0 || reads === 3),
      `never one without the others: ${turns.join(", ")}`
    )
  })
)

it.effect("a read that fails, fails for all that share it, and the next is made again", () =>
  Effect.gen(function* () {
    const { ask, begun, open, state } = yield* world
    state.value = "unreadable"
    const fibers = [yield* ask(), yield* ask()]
    yield* begun(1)
    yield* open
    for (const fiber of fibers) assert.isTrue(Exit.isFailure(yield* Fiber.await(fiber)))
    state.value = "valid"
    const next = yield* ask()
    yield* begun(2)
    yield* open
    assert.strictEqual(yield* Fiber.join(next), "valid")
  })
)

it.effect("a request that leaves at any step leaves no read behind that nothing makes", () =>
  Effect.gen(function* () {
    const share = sharing<number, never>()
    /** As many steps of the interpreter as a fiber takes before the scheduler lets others run, and some more. */
    for (let steps = 0; steps < 2_100; steps++) {
      const key = `session ${steps}`
      const work = Effect.gen(function* () {
        for (let step = 0; step < steps; step++) yield* Effect.suspend(() => Effect.void)
        return yield* share(key, Effect.succeed(1))
      })
      const leaving = yield* Effect.forkDetach(work, { startImmediately: true })
      leaving.interruptUnsafe()
      yield* Fiber.await(leaving)
      const next = yield* Effect.forkDetach(share(key, Effect.succeed(2)), { startImmediately: true })
      for (let turn = 0; turn < 10 && next.pollUnsafe() === undefined; turn++) yield* Effect.yieldNow
      assert.isDefined(next.pollUnsafe(), `after ${steps} steps`)
    }
  })
)

it.effect("a request inside a host's transaction reads for itself, so no other gets what is not committed", () =>
  Effect.gen(function* () {
    const { ask, begun, open, state } = yield* world
    const { within } = Transaction.make({
      begin: (work) => work,
      join: (_, work) => work,
      append: () => Effect.void,
      committed: Effect.void
    })
    const hosted = <A, E>(work: Effect.Effect<A, E>) => Effect.orDie(within({}, work))
    const fibers = [yield* ask("session", hosted), yield* ask(), yield* ask("session", hosted), yield* ask()]
    yield* begun(3)
    yield* open
    assert.lengthOf(yield* Effect.forEach(fibers, Fiber.join), 4)
    assert.strictEqual(state.reads, 3)
  })
)
