import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { gated, pass } from "../support/gated.ts"

describe("AuthenticationGate", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] }))
  afterEach(() => void vi.useRealTimers())

  it.live("one address gets only a part of the places of an endpoint", () =>
    Effect.gen(function* () {
      const enter = gated({ unauthenticated: 3, unauthenticated_per_address: 2 })
      const one = [enter("a"), enter("a"), enter("a")]
      const other = [enter("b"), enter("b")]
      const places = () => [...one, ...other].map((it) => it.place() !== undefined)
      assert.deepStrictEqual(places(), [true, true, false, true, false])
      one[0]?.place()?.release()
      // The other network has had a turn while this one waited.
      assert.deepStrictEqual(places(), [true, true, true, true, false])
      assert.isTrue(one[2]?.place()?.waited)
      assert.isFalse(other[0]?.place()?.waited)
    })
  )

  it.live("a known user gets a place however many strangers hold", () =>
    Effect.gen(function* () {
      const enter = gated({ unauthenticated: 2, unauthenticated_per_address: 1 })
      const owner = enter("a", "owner")
      owner.place()?.authenticated()
      enter("a")
      enter("b")
      assert.isUndefined(enter("c").place())
      const again = enter("a", "owner")
      assert.isTrue(again.place()?.known)
      yield* pass(86_400_000)
      again.place()?.release()
      assert.isFalse(enter("z", "owner").place()?.known ?? false)
    })
  )

  it.live("a client that does not authenticate is evicted after the timeout, and earlier if another one waits", () =>
    Effect.gen(function* () {
      const enter = gated({ unauthenticated: 1 })
      const slow = enter("a")
      const ended: Array<string> = []
      const begin = (who: string, it: typeof slow) =>
        it.place()?.begin(() => {
          ended.push(who)
          it.place()?.release()
        })
      begin("slow", slow)
      yield* pass(9_999)
      assert.deepStrictEqual(ended, [])
      yield* pass(1)
      assert.deepStrictEqual(ended, ["slow"])

      const next = enter("a")
      begin("next", next)
      yield* pass(1_000)
      const waiting = enter("b")
      assert.isUndefined(waiting.place())
      yield* pass(2_000)
      assert.deepStrictEqual(ended, ["slow", "next"])
      assert.isDefined(waiting.place())

      begin("waiting", waiting)
      yield* pass(4_000)
      const late = enter("c")
      assert.deepStrictEqual(ended, ["slow", "next", "waiting"])
      assert.isDefined(late.place())
    })
  )

  it.live("a client waits for thirty seconds, and leaves nothing behind when it goes away", () =>
    Effect.gen(function* () {
      const enter = gated({ unauthenticated: 1 })
      const holder = enter("a")
      const [gone, patient] = [enter("b"), enter("b")]
      gone.leave()
      yield* pass(29_999)
      assert.isFalse(patient.over())
      yield* pass(1)
      assert.isTrue(patient.over())
      assert.isUndefined(patient.place())
      holder.leave()
      assert.isDefined(enter("c").place())
    })
  )

  it.live("a full queue drops the oldest client of the address with the most, of the network with the most", () =>
    Effect.gen(function* () {
      const enter = gated({ unauthenticated: 1 })
      enter("a")
      const neighbours = [enter("b1", "b", "b"), enter("b1", "b", "b")]
      const flood = []
      for (let n = 0; n < 511; n++) flood.push(enter(n === 0 ? "c0" : `c${1 + (n % 3)}`, "c", "c"))
      assert.deepStrictEqual(
        neighbours.map((it) => it.over()),
        [false, false]
      )
      assert.deepStrictEqual(
        flood.map((it) => it.over()),
        flood.map((_, n) => n === 1)
      )
    })
  )

  it.live(
    "an authentication that arrives after its place was lost makes the user known, and leaves nothing behind",
    () =>
      Effect.gen(function* () {
        const enter = gated({ unauthenticated: 1, unknown_rate: 0.1 })
        const late = enter("a", "pool").place()
        late?.release()
        const waiting = enter("b", "pool")
        assert.isFalse(waiting.over())
        late?.authenticated()
        assert.isTrue(waiting.place()?.known)
      })
  )
})
