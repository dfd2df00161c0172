/** Holds docs/design/proxy.md P3, P4 and P19. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { parsePeer } from "../../src/networks/Address.ts"
import { followed } from "../support/followed.ts"
import { endpoint_id, MemoryControlPlane, project_id } from "../support/MemoryControlPlane.ts"

const settings = { refresh: Duration.seconds(30), max_stale: Duration.minutes(10) }
const neverStarted = { generation: 0, running: false, address: "", start: () => Promise.reject(new Error("started")) }

/** The cache over a control plane, and a client at 198.51.100.7. */
const watched = Effect.gen(function* () {
  const control = yield* MemoryControlPlane.make(neverStarted)
  const allowlists = yield* Effect.provide(followed(settings), control.layer)
  const peer = parsePeer("198.51.100.7")
  assert.isDefined(peer)
  const ask = Effect.result(allowlists.check({ endpoint_id, project_id, peer }))
  const verdict = Effect.map(ask, (result) => (Result.isSuccess(result) ? "admitted" : result.failure._tag))
  // Lets the cache subscribe before the first change.
  yield* TestClock.adjust("1 milli")
  return { allowlists, ask, control, verdict }
})

describe("AllowlistCache", () => {
  it.effect("a project whose list was never loaded admits no client", () =>
    Effect.gen(function* () {
      const { control, verdict } = yield* watched
      control.down = true
      assert.strictEqual(yield* verdict, "RulesUnknown")
    })
  )

  it.effect("the list of a project is requested once, not for each connection", () =>
    Effect.gen(function* () {
      const { control, verdict } = yield* watched
      assert.strictEqual(yield* verdict, "admitted")
      assert.strictEqual(yield* verdict, "admitted")
      assert.strictEqual(control.loads, 1)
    })
  )

  it.effect("a change takes effect within one second with a notification and within 33 without", () =>
    Effect.gen(function* () {
      const { control, verdict } = yield* watched
      assert.strictEqual(yield* verdict, "admitted")
      yield* control.list("203.0.113.0/24")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* verdict, "NotListed")
      control.rules = []
      control.version++
      yield* TestClock.adjust("33 seconds")
      assert.strictEqual(yield* verdict, "admitted")
    })
  )

  it.effect("removing a rule cuts a connection that no other rule covers, and no other connection", () =>
    Effect.gen(function* () {
      const { allowlists, ask, control } = yield* watched
      yield* control.list("198.51.100.0/24", "198.51.100.7/32")
      let cuts = 0
      allowlists.watch(yield* Effect.fromResult(yield* ask), () => cuts++)
      yield* control.list("198.51.100.7/32")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(cuts, 0)
      yield* control.list("203.0.113.0/24")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(cuts, 1)
    })
  )

  it.effect("removing a rule between the check and the relay cuts the connection immediately", () =>
    Effect.gen(function* () {
      const { allowlists, ask, control, verdict } = yield* watched
      const admitted = yield* Effect.fromResult(yield* ask)
      yield* control.list("203.0.113.0/24")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* verdict, "NotListed")
      let cuts = 0
      allowlists.watch(admitted, () => cuts++)
      assert.strictEqual(cuts, 1)
    })
  )

  it.effect("an expiring rule cuts its connection, even while the control plane is unreachable", () =>
    Effect.gen(function* () {
      const { allowlists, ask, control, verdict } = yield* watched
      const end = DateTime.formatIso(DateTime.add(yield* DateTime.now, { minutes: 1 }))
      yield* control.replace([{ cidr: "198.51.100.0/24", expires_at: end }])
      let cuts = 0
      allowlists.watch(yield* Effect.fromResult(yield* ask), () => cuts++)
      control.down = true
      yield* TestClock.adjust("58 seconds")
      assert.strictEqual(cuts, 0)
      yield* TestClock.adjust("3 seconds")
      assert.isAtLeast(cuts, 1)
      assert.strictEqual(yield* verdict, "NotListed")
      control.down = false
      assert.strictEqual(yield* verdict, "admitted")
    })
  )

  it.effect("a project with rules refuses new connections after ten minutes without a control plane", () =>
    Effect.gen(function* () {
      const { control, verdict } = yield* watched
      yield* control.list("198.51.100.0/24")
      assert.strictEqual(yield* verdict, "admitted")
      control.down = true
      yield* TestClock.adjust("9 minutes")
      assert.strictEqual(yield* verdict, "admitted")
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(yield* verdict, "RulesTooOld")
      control.down = false
      yield* TestClock.adjust("40 seconds")
      assert.strictEqual(yield* verdict, "admitted")
    })
  )

  it.effect("a project whose last known list is empty stays open without a control plane", () =>
    Effect.gen(function* () {
      const { control, verdict } = yield* watched
      assert.strictEqual(yield* verdict, "admitted")
      control.down = true
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* verdict, "admitted")
    })
  )

  it.effect("deleting a project cuts its connections", () =>
    Effect.gen(function* () {
      const { allowlists, ask, control, verdict } = yield* watched
      let cuts = 0
      allowlists.watch(yield* Effect.fromResult(yield* ask), () => cuts++)
      control.gone = true
      yield* TestClock.adjust("34 seconds")
      assert.isAtLeast(cuts, 1)
      assert.strictEqual(yield* verdict, "RulesUnknown")
    })
  )
})
