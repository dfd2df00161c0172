import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { EndpointId } from "@narthex/core"
import { Effect } from "effect"
import { AuthenticationGate, defaultAuthenticationLimits, type Place } from "../../src/connection/AuthenticationGate.ts"

const endpoint_id = EndpointId.make("ep-a")

const gated = (limits: Partial<typeof defaultAuthenticationLimits> = {}) => {
  const gate = new AuthenticationGate({ ...defaultAuthenticationLimits, ...limits }, () => Date.now())
  return (address: string, user = "stranger") => {
    const answers: Array<Place | undefined> = []
    const cancel = gate.enter({ endpoint_id, address, user }, (place) => answers.push(place))
    return {
      leave: () => {
        cancel()
        answers[0]?.release()
      },
      /** The place; `undefined` while the client waits, and if it was refused. */
      place: () => answers[0],
      over: () => answers.length > 0
    }
  }
}

/** `beforeEach` replaces timers, and the clock of `Date`. */
const pass = (millis: number) => Effect.promise(() => vi.advanceTimersByTimeAsync(millis))

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
      // The newest client whose address has a free place.
      assert.deepStrictEqual(places(), [true, true, false, true, true])
      assert.isTrue(other[1]?.place()?.waited)
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

  it.live("a full queue drops the oldest client of the address with the most", () =>
    Effect.gen(function* () {
      const enter = gated({ unauthenticated: 1 })
      enter("a")
      const owner = enter("b")
      const flood = []
      for (let n = 0; n < 512; n++) flood.push(enter("c"))
      assert.isFalse(owner.over())
      assert.deepStrictEqual(
        flood.map((it) => it.over()),
        flood.map((_, n) => n === 0)
      )
    })
  )
})
