import { assert, describe, it } from "@effect/vitest"
import type { ActivityPayload } from "@narthex/api"
import { EndpointId } from "@narthex/core"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { makeActivityReports } from "../../src/control-plane/ActivityReports.ts"
import { ControlPlane, ControlPlaneUnreachable } from "../../src/control-plane/ControlPlane.ts"

const endpoint = EndpointId.make("ep-a")

/** Reports to a control plane that a test switches off. `now` is a clock that only `wait` moves. */
const reporting = Effect.gen(function* () {
  const received: Array<ActivityPayload> = []
  const state = { down: false, now: 1_000 }
  const never = Effect.never
  const control = Layer.succeed(ControlPlane, {
    resolve: () => never,
    allowlists: () => never,
    changes: never,
    wake: () => never,
    cancel: () => Effect.never,
    refusals: () => never,
    activity: (report) =>
      Effect.suspend(() => {
        if (state.down) return Effect.fail(new ControlPlaneUnreachable({ operation: "activity", reason: "it is down" }))
        received.push(report)
        return Effect.void
      })
  })
  const reports = yield* Effect.provide(
    makeActivityReports("p-1", () => state.now),
    control
  )
  const wait = Effect.fnUntraced(function* (millis: number) {
    for (let left = millis; left > 0; left -= 50) {
      state.now += 50
      yield* TestClock.adjust(50)
    }
  })
  const session = () => ({ busy: false, lastActive: state.now })
  /** The reports that the control plane has received since the last call. */
  const said = () =>
    received.splice(0).flatMap(({ endpoints }) => endpoints.map((it) => [it.connections, it.busy, it.idle_ms] as const))
  return { ...reports, received, said, session, state, wait }
})

describe("ActivityReports", () => {
  it.effect("a compute is reported at once when it gets busy, and as idle after two quiet seconds", () =>
    Effect.gen(function* () {
      const { open, said, session, state, wait } = yield* reporting
      const one = session()
      const { busy } = open(endpoint, 1, one)
      yield* wait(100)
      assert.deepStrictEqual(said(), [[1, 1, 0]])
      yield* wait(3_000)
      const [idle, ...more] = said()
      assert.deepStrictEqual(more, [])
      assert.deepStrictEqual(idle?.slice(0, 2), [1, 0])
      assert.isAtLeast(idle?.[2] ?? 0, 2_000)
      one.busy = true
      busy()
      yield* wait(100)
      assert.deepStrictEqual(said(), [[1, 1, 0]])
      yield* wait(10_000)
      assert.deepStrictEqual(said(), [])
      one.busy = false
      one.lastActive = state.now
      yield* wait(3_000)
      assert.lengthOf(said(), 1)
    })
  )

  it.effect("many short queries cost no more reports than one long query", () =>
    Effect.gen(function* () {
      const { open, said, session, state, wait } = yield* reporting
      const one = session()
      const { busy } = open(endpoint, 1, one)
      for (let round = 0; round < 100; round++) {
        one.busy = true
        busy()
        yield* wait(50)
        one.busy = false
        one.lastActive = state.now
        yield* wait(50)
      }
      assert.deepStrictEqual(said(), [[1, 1, 0]])
    })
  )

  it.effect("a compute in use is reported again every fifteen seconds, with the time since the last activity", () =>
    Effect.gen(function* () {
      const { open, said, session, wait } = yield* reporting
      open(endpoint, 1, session())
      yield* wait(3_000)
      said()
      yield* wait(32_000)
      const repeated = said().map(([, , idle_ms]) => idle_ms ?? 0)
      assert.lengthOf(repeated, 2)
      assert.isAtLeast(repeated[1] ?? 0, 30_000)
    })
  )

  it.effect("idle times do not depend on the wall clock", () =>
    Effect.gen(function* () {
      const { open, said, session, wait } = yield* reporting
      open(endpoint, 1, session())
      yield* wait(3_000)
      yield* TestClock.setTime((yield* Clock.currentTimeMillis) + 3_600_000)
      said()
      yield* wait(15_000)
      const [, , idle_ms] = said().at(-1) ?? []
      assert.isAtLeast(idle_ms ?? 0, 10_000)
      assert.isBelow(idle_ms ?? Number.POSITIVE_INFINITY, 20_000)
    })
  )

  it.effect("a compute without sessions is reported until a report has succeeded, in calls with rising numbers", () =>
    Effect.gen(function* () {
      const { open, received, session, state, wait } = yield* reporting
      const { close } = open(endpoint, 1, session())
      yield* wait(100)
      state.down = true
      close()
      yield* wait(60_000)
      assert.lengthOf(received.splice(0), 1)
      state.down = false
      yield* wait(10_000)
      const [last, ...more] = received.splice(0)
      assert.deepStrictEqual(more, [])
      assert.deepInclude(last?.endpoints[0], { connections: 0, busy: 0 })
      assert.isAtLeast(last?.endpoints[0]?.idle_ms ?? 0, 60_000)
      assert.isAbove(last?.sequence ?? 0, 2)
      yield* wait(60_000)
      assert.deepStrictEqual(received, [])
    })
  )

  it.effect("the computes of a large proxy are reported in several calls, all of them", () =>
    Effect.gen(function* () {
      const { open, received, report, session, wait } = yield* reporting
      for (let n = 0; n < 450; n++) open(EndpointId.make(`ep-${n}`), 1, session())
      yield* wait(1_000)
      const sizes = () => received.splice(0).map(({ endpoints }) => endpoints.length)
      assert.deepStrictEqual(sizes(), [200, 200, 50])
      yield* report
      assert.deepStrictEqual(sizes(), [200, 200, 50])
    })
  )
})
