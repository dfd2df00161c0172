import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { EndpointId } from "@narthex/core"
import { Effect, Exit, Fiber } from "effect"
import { AuthenticationGate, defaultAuthenticationLimits } from "../../src/connection/AuthenticationGate.ts"
import { Held } from "../../src/connection/Held.ts"

const endpoint_id = EndpointId.make("ep-a")

/** Flushes what fibers do between two timers. */
const settled = Effect.promise(() => vi.advanceTimersByTimeAsync(0))

const gated = (limits: Partial<typeof defaultAuthenticationLimits> = {}) => {
  const gate = new AuthenticationGate({ ...defaultAuthenticationLimits, ...limits }, () => Date.now())
  const enter = Effect.fnUntraced(function* (address: string, user = "stranger") {
    const held = new Held()
    const fiber = yield* Effect.forkDetach(Effect.exit(gate.enter({ endpoint_id, address, user }, held)), {
      startImmediately: true
    })
    yield* settled
    return {
      leave: Effect.andThen(
        Fiber.interrupt(fiber),
        Effect.sync(() => held.release())
      ),
      /** The place; `undefined` while the client waits, and if it was refused. */
      place: () => {
        const outcome = fiber.pollUnsafe()
        const entered = outcome !== undefined && Exit.isSuccess(outcome) ? outcome.value : undefined
        return entered !== undefined && Exit.isSuccess(entered) ? entered.value : undefined
      },
      over: () => fiber.pollUnsafe() !== undefined
    }
  })
  return enter
}

/** `beforeEach` replaces timers, and the clock of `Date`. */
const pass = (millis: number) => Effect.promise(() => vi.advanceTimersByTimeAsync(millis))

describe("AuthenticationGate", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] }))
  afterEach(() => void vi.useRealTimers())

  it.live("one address gets only a part of the places of an endpoint", () =>
    Effect.gen(function* () {
      const enter = gated({ unauthenticated: 3, unauthenticated_per_address: 2 })
      const one = [yield* enter("a"), yield* enter("a"), yield* enter("a")]
      const other = [yield* enter("b"), yield* enter("b")]
      const places = () => [...one, ...other].map((it) => it.place() !== undefined)
      assert.deepStrictEqual(places(), [true, true, false, true, false])
      one[0]?.place()?.release()
      yield* settled
      // The newest client whose address has a free place.
      assert.deepStrictEqual(places(), [true, true, false, true, true])
      assert.isTrue(other[1]?.place()?.waited)
      assert.isFalse(other[0]?.place()?.waited)
    })
  )

  it.live("a known user gets a place however many strangers hold", () =>
    Effect.gen(function* () {
      const enter = gated({ unauthenticated: 2, unauthenticated_per_address: 1 })
      const owner = yield* enter("a", "owner")
      owner.place()?.authenticated()
      yield* enter("a")
      yield* enter("b")
      assert.isUndefined((yield* enter("c")).place())
      const again = yield* enter("a", "owner")
      assert.isTrue(again.place()?.known)
      yield* pass(86_400_000)
      again.place()?.release()
      assert.isFalse((yield* enter("z", "owner")).place()?.known ?? false)
    })
  )

  it.live("a client that does not authenticate is evicted after the timeout, and earlier if another one waits", () =>
    Effect.gen(function* () {
      const enter = gated({ unauthenticated: 1 })
      const slow = yield* enter("a")
      const ended: Array<string> = []
      const begin = (who: Effect.Success<typeof slow.leave> | string, it: typeof slow) =>
        it.place()?.begin(() => {
          ended.push(String(who))
          it.place()?.release()
        })
      begin("slow", slow)
      yield* pass(9_999)
      assert.deepStrictEqual(ended, [])
      yield* pass(1)
      assert.deepStrictEqual(ended, ["slow"])

      const next = yield* enter("a")
      begin("next", next)
      yield* pass(1_000)
      const waiting = yield* enter("b")
      assert.isUndefined(waiting.place())
      yield* pass(2_000)
      assert.deepStrictEqual(ended, ["slow", "next"])
      assert.isDefined(waiting.place())

      begin("waiting", waiting)
      yield* pass(4_000)
      const late = yield* enter("c")
      assert.deepStrictEqual(ended, ["slow", "next", "waiting"])
      assert.isDefined(late.place())
    })
  )

  it.live("a client waits for thirty seconds, and leaves nothing behind when it goes away", () =>
    Effect.gen(function* () {
      const enter = gated({ unauthenticated: 1 })
      const holder = yield* enter("a")
      const [gone, patient] = [yield* enter("b"), yield* enter("b")]
      yield* gone.leave
      yield* pass(29_999)
      assert.isFalse(patient.over())
      yield* pass(1)
      assert.isTrue(patient.over())
      assert.isUndefined(patient.place())
      yield* holder.leave
      assert.isDefined((yield* enter("c")).place())
    })
  )

  it.live("a full queue drops the oldest client of the address with the most", () =>
    Effect.gen(function* () {
      const enter = gated({ unauthenticated: 1 })
      yield* enter("a")
      const owner = yield* enter("b")
      const flood = []
      for (let n = 0; n < 512; n++) flood.push(yield* enter("c"))
      assert.isFalse(owner.over())
      assert.deepStrictEqual(
        flood.map((it) => it.over()),
        flood.map((_, n) => n === 0)
      )
    })
  )
})
