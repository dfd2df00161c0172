import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { EndpointId } from "@narthex/core"
import { Effect } from "effect"
import { gated, pass } from "../support/gated.ts"

describe("the rate and the turns of AuthenticationGate", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] }))
  afterEach(() => void vi.useRealTimers())

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
      // The owner does not count.
      assert.deepStrictEqual([begun(), begun(), begun(), begun()], [true, true, true, false])
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

  it.live("a client that authenticates gives its part of the rates back", () =>
    Effect.gen(function* () {
      const enter = gated({ unauthenticated: 2, unknown_rate: 0.1, unknown_rate_per_network: 1 })
      for (let n = 0; n < 100; n++) {
        const client = enter("a", `user-${n}`)
        assert.isFalse(client.place()?.waited)
        client.place()?.authenticated()
      }
      enter("a").leave()
      enter("a").leave()
      assert.isFalse(enter("a").over())
    })
  )

  it.live("a session that has taken too long is ended for a client that comes to need its place later", () =>
    Effect.gen(function* () {
      const enter = gated({ unauthenticated: 2, unknown_rate: 0.5 })
      const slow = enter("a")
      slow.place()?.begin(() => slow.leave())
      yield* pass(4_000)
      for (let n = 0; n < 2; n++) enter("b").leave()
      const [other, newest] = [enter("c"), enter("d")]
      // Both wait for their time, and the newest takes the free place at it.
      yield* pass(2_000)
      assert.deepStrictEqual([other.over(), newest.over(), slow.over()], [false, true, true])
      yield* pass(2_000)
      assert.isDefined(other.place())
    })
  )

  it.live("a session that has taken too long is ended for a client whose user becomes known", () =>
    Effect.gen(function* () {
      const enter = gated({ unauthenticated: 1, unauthenticated_per_address: 1 })
      enter("a", "ada").place()?.authenticated()
      const slow = enter("a", "ada")
      slow.place()?.begin(() => slow.leave())
      yield* pass(4_000)
      const pool = [enter("b", "bob"), enter("b", "bob")]
      pool[0]?.place()?.authenticated()
      assert.isTrue(pool[1]?.place()?.known)
    })
  )

  it.live("no session is ended for a client whose time has not come, with a free place or without", () =>
    Effect.gen(function* () {
      for (const unauthenticated of [1, 2]) {
        const enter = gated({ unauthenticated, unknown_rate: 0.1 })
        const slow = enter("a")
        if (unauthenticated === 2) enter("b").leave()
        let ended = false
        slow.place()?.begin(() => {
          ended = true
        })
        yield* pass(3_000)
        const waiting = enter("b")
        yield* pass(1_000)
        assert.deepStrictEqual([waiting.over(), ended], [false, false])
      }
    })
  )
})
