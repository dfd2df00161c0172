import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { EndpointId } from "@narthex/core"
import { Effect } from "effect"
import { AuthenticationGate, defaultAuthenticationLimits, type Place } from "../../src/connection/AuthenticationGate.ts"

const endpoint_id = EndpointId.make("ep-a")

const gated = (limits: Partial<typeof defaultAuthenticationLimits> = {}) => {
  const gate = new AuthenticationGate({ ...defaultAuthenticationLimits, ...limits }, () => Date.now())
  return (address: string, user = "stranger", network = address, at = endpoint_id) => {
    const answers: Array<Place | undefined> = []
    const known = gate.knows(at, user)
    const cancel = gate.enter({ endpoint_id: at, address, network, user, known }, (place) => answers.push(place))
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

  it.live("unknown users begin at a rate, known ones at once", () =>
    Effect.gen(function* () {
      const enter = gated({ unauthenticated: 3, unauthenticated_per_address: 3, unknown_rate: 2 })
      enter("a", "owner").place()?.authenticated()
      const begun = () => {
        const client = enter("a")
        const has = client.place() !== undefined
        client.leave()
        return has
      }
      // What is left of the three after a pause.
      assert.deepStrictEqual([begun(), begun(), begun(), begun()], [true, true, false, false])
      for (let n = 0; n < 100; n++) {
        const known = enter("a", "owner").place()
        assert.isFalse(known?.waited)
        known?.release()
      }
      const waiting = [enter("a"), enter("a")]
      yield* pass(499)
      assert.deepStrictEqual(
        waiting.map((it) => it.over()),
        [false, false]
      )
      yield* pass(1)
      assert.deepStrictEqual(
        waiting.map((it) => it.over()),
        [false, true]
      )
      yield* pass(500)
      assert.isTrue(waiting[0]?.place()?.waited)
    })
  )

  it.live("unknown users of one network begin at a rate at all endpoints together", () =>
    Effect.gen(function* () {
      const enter = gated({ unknown_rate_per_network: 2 })
      const at = (n: number, network = "n") => enter(`${network}.${n}`, "stranger", network, EndpointId.make(`ep-${n}`))
      const clients = Array.from({ length: 12 }, (_, n) => at(n))
      const begun = () => clients.filter((it) => it.over()).length
      assert.strictEqual(begun(), 10)
      assert.isDefined(at(11, "other").place())
      yield* pass(499)
      assert.strictEqual(begun(), 10)
      // Both endpoints look at the same time, and one of them takes it.
      yield* pass(2)
      assert.strictEqual(begun(), 11)
      yield* pass(500)
      assert.strictEqual(begun(), 12)
    })
  )

  it.live("networks take turns, and the addresses of one", () =>
    Effect.gen(function* () {
      const enter = gated({ unauthenticated: 1, unauthenticated_per_address: 1 })
      const order: Array<string> = []
      const waits = (address: string, network: string) => {
        const client = enter(address, "stranger", network)
        return { address, client }
      }
      const first = enter("first")
      const waiting = [
        waits("owner", "office"),
        waits("d", "flood"),
        waits("c", "flood"),
        waits("c", "flood"),
        waits("d", "flood")
      ]
      first.leave()
      for (let n = 0; n < waiting.length; n++) {
        yield* pass(1_000)
        const begun = waiting.find((it) => it.client.place() !== undefined && !order.includes(`${waiting.indexOf(it)}`))
        if (begun !== undefined) order.push(`${waiting.indexOf(begun)}`)
        begun?.client.leave()
      }
      // The newest, then the other network, then the other address of the flood, and of one address the newest.
      assert.deepStrictEqual(order, ["4", "0", "3", "1", "2"])
    })
  )

  it.live("clients that wait with a user who becomes known wait no longer for the rate of strangers", () =>
    Effect.gen(function* () {
      const enter = gated({ unauthenticated: 10, unauthenticated_per_address: 2, unknown_rate: 1 })
      const pool = Array.from({ length: 12 }, () => enter("a", "pool"))
      const stranger = enter("a")
      const begun = () => pool.filter((it) => it.over()).length
      assert.strictEqual(begun(), 2)
      pool[0]?.place()?.authenticated()
      assert.strictEqual(begun(), 12)
      assert.isTrue(pool[11]?.place()?.known)
      // The place that the pool left, at its time.
      assert.isTrue(stranger.over())
      assert.isFalse(stranger.place()?.known)
    })
  )

  it.live("nobody is evicted for a client that waits for its time and not for a place", () =>
    Effect.gen(function* () {
      const enter = gated({ unauthenticated: 2, unknown_rate: 0.1 })
      const slow = enter("a")
      enter("b").leave()
      let ended = false
      slow.place()?.begin(() => {
        ended = true
      })
      yield* pass(3_000)
      const waiting = enter("b")
      yield* pass(1_000)
      assert.deepStrictEqual([waiting.over(), ended], [false, false])
    })
  )
})
