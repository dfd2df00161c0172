/** Holds docs/design/proxy.md P37. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { ControlPlane } from "../../src/control-plane/ControlPlane.ts"
import {
  type EndpointCache,
  type Located,
  makeEndpointCache,
  type ResolveError
} from "../../src/control-plane/EndpointCache.ts"
import { followChanges } from "../../src/control-plane/followChanges.ts"
import { endpoint_id, MemoryControlPlane } from "../support/MemoryControlPlane.ts"

const running = { generation: 4, running: true, address: "/run/a", start: () => Promise.reject(new Error("started")) }
const noLists = { changed: () => Effect.void, reload: Effect.void }

/** Asks as a connection does. */
const resolve = (endpoints: EndpointCache) =>
  Effect.callback<Located, ResolveError>((resume) =>
    Effect.sync(endpoints.resolve({ endpoint_id, role: undefined }, resume))
  )

/** A cache that follows the changes. `connect` is what a connection does: it asks, and is watched until it is cut. */
const cached = Effect.fnUntraced(function* (refresh: Duration.Input) {
  const control = yield* MemoryControlPlane.make(running)
  let reads = 0
  const endpoints = yield* Effect.gen(function* () {
    const endpoints = yield* makeEndpointCache(Duration.fromInputUnsafe(refresh), () => ++reads)
    yield* followChanges({ allowlists: noLists, endpoints, cancelHere: () => {} })
    return endpoints
  }).pipe(Effect.provide(control.layer))
  yield* TestClock.adjust("1 milli")
  const cuts: Array<string> = []
  const watch = (asked_at: number, generation = running.generation) => {
    const unwatch = endpoints.watch({ endpoint_id, generation, asked_at }, (why) => {
      cuts.push(`${why} ${generation}`)
      unwatch()
    })
  }
  const connect = Effect.map(resolve(endpoints), ({ asked_at }) => watch(asked_at))
  return { connect, control, cuts, endpoints, watch }
})

const soon = TestClock.adjust("1 second")

/** The answer to a question from before the endpoint was disabled, which comes after the notification. */
const disabledMeanwhile = Effect.fnUntraced(function* (
  control: Effect.Success<ReturnType<typeof MemoryControlPlane.make>>,
  endpoints: EndpointCache
) {
  const held = yield* Deferred.make<void>()
  control.answering = Deferred.await(held)
  const earlier = yield* Effect.forkChild(resolve(endpoints))
  yield* soon
  control.disabled = true
  yield* control.hint
  yield* soon
  control.answering = Effect.void
  yield* Deferred.succeed(held, undefined)
  return yield* Fiber.join(earlier)
})

describe("EndpointCache", () => {
  it.effect("a suspend cuts its connections within one second with a notification and within 33 without", () =>
    Effect.gen(function* () {
      const { connect, control, cuts } = yield* cached("30 seconds")
      yield* connect
      control.suspended = true
      yield* control.hint
      yield* soon
      assert.deepStrictEqual(cuts, ["suspended 4"])
      control.suspended = false
      yield* connect
      control.disabled = true
      yield* soon
      assert.lengthOf(cuts, 1)
      yield* TestClock.adjust("33 seconds")
      assert.deepStrictEqual(cuts, ["suspended 4", "disabled 4"])
    })
  )

  it.effect("a connection to an earlier start of the endpoint is cut, and one to the present start is not", () =>
    Effect.gen(function* () {
      const { connect, control, cuts, watch } = yield* cached("1 hour")
      yield* connect
      control.restarts++
      watch(Number.POSITIVE_INFINITY, 5)
      yield* control.hint
      yield* soon
      assert.deepStrictEqual(cuts, ["suspended 4"])
    })
  )

  it.effect("a connection to an earlier start that is relayed after one to the present start is cut, too", () =>
    Effect.gen(function* () {
      const { control, cuts, endpoints, watch } = yield* cached("1 hour")
      control.restarts++
      yield* resolve(endpoints)
      watch(Number.POSITIVE_INFINITY, 5)
      yield* resolve(endpoints)
      watch(Number.POSITIVE_INFINITY, 4)
      yield* resolve(endpoints)
      assert.deepStrictEqual(cuts, ["suspended 4"])
    })
  )

  it.effect("a connection that began after a question is not cut by its answer", () =>
    Effect.gen(function* () {
      const { connect, control, cuts, endpoints, watch } = yield* cached("1 hour")
      yield* connect
      const held = yield* Deferred.make<void>()
      control.answering = Deferred.await(held)
      control.suspended = true
      const question = yield* Effect.forkChild(resolve(endpoints))
      yield* soon
      watch(Number.POSITIVE_INFINITY, 5)
      yield* Deferred.succeed(held, undefined)
      yield* Fiber.join(question)
      assert.deepStrictEqual(cuts, ["suspended 4"])
    })
  )

  it.effect("an answer to a question from before the notification is not taken for one after it", () =>
    Effect.gen(function* () {
      const { connect, control, cuts, endpoints } = yield* cached("1 hour")
      yield* connect
      const earlier = yield* disabledMeanwhile(control, endpoints)
      assert.isFalse(earlier.endpoint.disabled, "it was read before the change")
      yield* soon
      assert.deepStrictEqual(cuts, ["disabled 4"])
    })
  )

  it.effect("an endpoint that changes between the answer to a connection and its relay cuts the connection", () =>
    Effect.gen(function* () {
      const { control, cuts, endpoints, watch } = yield* cached("1 hour")
      const { asked_at } = yield* resolve(endpoints)
      control.disabled = true
      yield* control.hint
      yield* soon
      // Another client has asked in between.
      assert.isTrue((yield* resolve(endpoints)).endpoint.disabled)
      watch(asked_at)
      yield* soon
      assert.deepStrictEqual(cuts, ["disabled 4"])
    })
  )

  it.effect("an endpoint that changes during its first question cuts the connection", () =>
    Effect.gen(function* () {
      const { control, cuts, endpoints, watch } = yield* cached("1 hour")
      watch((yield* disabledMeanwhile(control, endpoints)).asked_at)
      yield* soon
      assert.deepStrictEqual(cuts, ["disabled 4"])
    })
  )

  it.effect("an endpoint that is deleted and no longer known cuts the connection", () =>
    Effect.gen(function* () {
      const { control, cuts, endpoints, watch } = yield* cached("1 hour")
      const { asked_at } = yield* resolve(endpoints)
      control.gone = true
      assert.strictEqual((yield* Effect.flip(resolve(endpoints)))._tag, "EndpointUnknown")
      watch(asked_at)
      yield* soon
      assert.deepStrictEqual(cuts, ["disabled 4"])
    })
  )

  it.effect("notifications cost one question at a time, and none without a connection", () =>
    Effect.gen(function* () {
      const { connect, control, endpoints } = yield* cached("1 hour")
      yield* resolve(endpoints)
      yield* control.hint
      yield* soon
      assert.lengthOf(control.resolves, 1)
      yield* connect
      yield* soon
      assert.lengthOf(control.resolves, 2, "nothing has changed since it asked")
      for (let n = 0; n < 50; n++) yield* control.hint
      yield* soon
      assert.isAtMost(control.resolves.length, 4)
    })
  )

  it.effect("a question without an answer is repeated", () =>
    Effect.gen(function* () {
      const { connect, control, cuts } = yield* cached("1 hour")
      yield* connect
      control.disabled = true
      control.down = true
      yield* control.hint
      yield* TestClock.adjust("2 seconds")
      control.down = false
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(cuts, ["disabled 4"])
    })
  )
})

describe("followChanges", () => {
  it.effect("after each subscription everything is asked for again", () =>
    Effect.gen(function* () {
      const control = yield* MemoryControlPlane.make(running)
      const lost = Layer.effect(
        ControlPlane,
        Effect.map(ControlPlane, (service) => ControlPlane.of({ ...service, changes: Effect.succeed(Stream.empty) }))
      )
      const reloads = { allowlists: 0, endpoints: 0 }
      yield* followChanges({
        allowlists: { ...noLists, reload: Effect.sync(() => void reloads.allowlists++) },
        endpoints: { changed: () => undefined, reload: () => void reloads.endpoints++ },
        cancelHere: () => undefined
      }).pipe(Effect.provide(Layer.provide(lost, control.layer)))
      yield* TestClock.adjust("1 milli")
      assert.deepStrictEqual(reloads, { allowlists: 1, endpoints: 1 })
      yield* TestClock.adjust("5 seconds")
      assert.isAtLeast(reloads.endpoints, 2)
      assert.strictEqual(reloads.endpoints, reloads.allowlists)
    })
  )
})
