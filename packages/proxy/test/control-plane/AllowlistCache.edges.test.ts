/** Boundary cases: when lists are requested, and connections that have ended. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { parsePeer } from "../../src/networks/Address.ts"
import { followed } from "../support/followed.ts"
import { endpoint_id, MemoryControlPlane, project_id } from "../support/MemoryControlPlane.ts"

const neverStarted = { generation: 0, running: false, address: "", start: () => Promise.reject(new Error("started")) }

/** A cache with this refresh interval, and a client at 198.51.100.7. */
const lists = Effect.fnUntraced(function* (refresh: Duration.Duration, down = false) {
  const control = yield* MemoryControlPlane.make(neverStarted)
  control.down = down
  const settings = { refresh, max_stale: Duration.hours(9) }
  const allowlists = yield* Effect.provide(followed(settings), control.layer)
  const peer = parsePeer("198.51.100.7")
  assert.isDefined(peer)
  const check = Effect.result(allowlists.check({ endpoint_id, project_id, peer }))
  yield* TestClock.adjust("1 milli")
  return { allowlists, check, control }
})

describe("AllowlistCache.watch", () => {
  it.effect("a connection that has ended is not cut", () =>
    Effect.gen(function* () {
      const { allowlists, check, control } = yield* lists(Duration.seconds(30))
      let cuts = 0
      const unwatch = allowlists.watch(Result.getOrThrow(yield* check), () => cuts++)
      unwatch()
      yield* control.list("203.0.113.0/24")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(cuts, 0)
    })
  )
})

describe("AllowlistCache.check", () => {
  it.effect("a list that was not used for ten minutes is loaded before the next check", () =>
    Effect.gen(function* () {
      const { check, control } = yield* lists(Duration.hours(2))
      assert.isTrue(Result.isSuccess(yield* check))
      yield* TestClock.adjust("9 minutes")
      yield* check
      assert.strictEqual(control.loads, 1)
      yield* TestClock.adjust("11 minutes")
      yield* check
      assert.strictEqual(control.loads, 2)
    })
  )

  it.effect("a list with an expired rule and a connection is requested again immediately", () =>
    Effect.gen(function* () {
      const { allowlists, check, control } = yield* lists(Duration.hours(2))
      const end = DateTime.formatIso(DateTime.add(yield* DateTime.now, { minutes: 1 }))
      control.rules = [
        { cidr: "198.51.100.0/24", expires_at: null },
        { cidr: "203.0.113.0/24", expires_at: end }
      ]
      let cuts = 0
      allowlists.watch(Result.getOrThrow(yield* check), () => cuts++)
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual(control.loads, 1)
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(control.loads, 2)
      assert.strictEqual(cuts, 0)
    })
  )

  it.effect("lists are requested as soon as the subscription to changes is established", () =>
    Effect.gen(function* () {
      const { check, control } = yield* lists(Duration.hours(2), true)
      assert.isTrue(Result.isFailure(yield* check))
      const asked = control.loads
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(control.loads, asked)
      control.down = false
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(control.loads, asked + 1)
    })
  )
})
