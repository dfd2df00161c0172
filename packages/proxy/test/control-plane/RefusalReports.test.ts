/** Holds docs/design/proxy.md P43. */
import { assert, describe, it } from "@effect/vitest"
import { maxRefusals, type RefusalsPayload } from "@narthex/api"
import { EndpointId, ProjectId } from "@narthex/core"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { ControlPlane, ControlPlaneUnreachable, ReportRejected } from "../../src/control-plane/ControlPlane.ts"
import { makeRefusalReports } from "../../src/control-plane/RefusalReports.ts"

const refused = (address: string, project = "prj-a") => ({
  project_id: ProjectId.make(project),
  endpoint_id: EndpointId.make("ep-a"),
  address,
  role: undefined,
  reason: "address_not_listed" as const
})

type Mode = "up" | "down" | "old" | "silent" | "loses_answers"

/** Reports to a control plane that a test changes. `now` is a clock that only `wait` moves. */
const reporting = Effect.gen(function* () {
  const received: Array<RefusalsPayload> = []
  const state: { mode: Mode; calls: number; now: number } = { mode: "up", calls: 0, now: 1_000 }
  const never = Effect.never
  const unreachable = new ControlPlaneUnreachable({ operation: "refusals", reason: "it is down" })
  const control = Layer.succeed(ControlPlane, {
    resolve: () => never,
    allowlists: () => never,
    changes: never,
    wake: () => never,
    cancel: () => Effect.never,
    activity: () => never,
    refusals: (report) =>
      Effect.suspend((): Effect.Effect<void, ControlPlaneUnreachable | ReportRejected> => {
        state.calls++
        if (state.mode === "down") return Effect.fail(unreachable)
        if (state.mode === "old") return Effect.fail(new ReportRejected({ status: 404 }))
        if (state.mode === "silent") return never
        received.push(report)
        return state.mode === "loses_answers" ? Effect.fail(unreachable) : Effect.void
      })
  })
  const reports = yield* Effect.provide(
    makeRefusalReports("p-1", () => state.now),
    control
  )
  const wait = Effect.fnUntraced(function* (millis: number) {
    for (let left = millis; left > 0; left -= 250) {
      state.now += 250
      yield* TestClock.adjust(250)
    }
  })
  return { ...reports, received, state, wait }
})

describe("RefusalReports", () => {
  it.effect("a refusal is reported within two seconds, with the ages by the monotonic clock", () =>
    Effect.gen(function* () {
      const { add, received, state, wait } = yield* reporting
      yield* wait(60_000)
      assert.strictEqual(state.calls, 0)
      add(refused("192.0.2.1"))
      yield* wait(500)
      add(refused("192.0.2.1"))
      yield* wait(1_000)
      const [report, ...more] = received
      assert.deepStrictEqual(more, [])
      const [entry] = report?.refusals ?? []
      assert.deepStrictEqual(
        { ...report, refusals: [{ ...entry, first_ms: 0, last_ms: 0 }] },
        {
          proxy_id: "p-1",
          sequence: 1,
          refusals: [
            {
              endpoint_id: EndpointId.make("ep-a"),
              address: "192.0.2.1",
              reason: "address_not_listed",
              count: 2,
              first_ms: 0,
              last_ms: 0
            }
          ]
        }
      )
      assert.strictEqual((entry?.first_ms ?? 0) - (entry?.last_ms ?? 0), 500)
    })
  )

  it.effect("10,000 refusals from as many addresses in a minute cost at most nine calls of 200 entries", () =>
    Effect.gen(function* () {
      const { add, received, state, wait } = yield* reporting
      for (let n = 0; n < 10_000; n++) {
        add(refused(`10.0.${n >> 8}.${n & 255}`, `prj-${n % 10}`))
        if (n % 42 === 0) yield* wait(250)
      }
      yield* wait(15_000)
      assert.isAtMost(state.calls, 9)
      assert.isAtLeast(state.calls, 5)
      for (const { refusals } of received) assert.isAtMost(refusals.length, maxRefusals)
      const before = state.calls
      yield* wait(60_000)
      assert.strictEqual(state.calls, before)
    })
  )

  it.effect("a report without an answer is sent again with its number, and later refusals are the next report", () =>
    Effect.gen(function* () {
      const { add, received, state, wait } = yield* reporting
      state.mode = "loses_answers"
      add(refused("192.0.2.1"))
      yield* wait(2_000)
      add(refused("192.0.2.1"))
      add(refused("192.0.2.2"))
      yield* wait(12_000)
      state.mode = "up"
      yield* wait(30_000)
      const shown = received.map(({ refusals, sequence }) => [
        sequence,
        ...refusals.map((it) => `${it.address} ${it.count}`)
      ])
      assert.deepStrictEqual(shown, [
        [1, "192.0.2.1 1"],
        [1, "192.0.2.1 1"],
        [1, "192.0.2.1 1"],
        [2, "192.0.2.1 1", "192.0.2.2 1"]
      ])
      const ages = received.map(({ refusals }) => refusals[0]?.last_ms ?? 0)
      assert.isAtLeast((ages[1] ?? 0) - (ages[0] ?? 0), 9_000)
    })
  )

  it.effect("a report is given up after an hour without an answer, and the refusals since then are reported", () =>
    Effect.gen(function* () {
      const { add, received, state, wait } = yield* reporting
      state.mode = "down"
      add(refused("192.0.2.1"))
      yield* wait(3_000_000)
      add(refused("192.0.2.2"))
      yield* wait(700_000)
      assert.isAtMost(state.calls, 420)
      state.mode = "up"
      yield* wait(30_000)
      assert.deepStrictEqual(
        received.map(({ refusals, sequence }) => [sequence, ...refusals.map(({ address }) => address)]),
        [[2, "192.0.2.2"]]
      )
    })
  )

  it.effect("a control plane without the call is asked every ten minutes, and only while clients are refused", () =>
    Effect.gen(function* () {
      const { add, received, state, wait } = yield* reporting
      state.mode = "old"
      for (let minute = 0; minute < 60; minute++) {
        add(refused(`192.0.2.${minute}`))
        yield* wait(60_000)
      }
      assert.isAtLeast(state.calls, 5)
      assert.isAtMost(state.calls, 7)
      yield* wait(1_200_000)
      const before = state.calls
      yield* wait(3_600_000)
      assert.strictEqual(state.calls, before)
      state.mode = "up"
      add(refused("192.0.2.100"))
      yield* wait(2_000)
      assert.deepStrictEqual(
        received.at(-1)?.refusals.map(({ address }) => address),
        ["192.0.2.100"]
      )
    })
  )

  it.effect("adding a refusal does not wait for a call that is never answered, and there is one call at a time", () =>
    Effect.gen(function* () {
      const { add, state, wait } = yield* reporting
      state.mode = "silent"
      add(refused("192.0.2.1"))
      yield* wait(2_000)
      for (let n = 0; n < 1_000; n++) add(refused(`10.0.0.${n % 250}`))
      yield* wait(60_000)
      assert.strictEqual(state.calls, 1)
    })
  )

  it.effect("reporting at the end sends what has no answer and what has not been sent", () =>
    Effect.gen(function* () {
      const { add, received, report, state, wait } = yield* reporting
      state.mode = "down"
      add(refused("192.0.2.1"))
      yield* wait(2_000)
      add(refused("192.0.2.2"))
      state.mode = "up"
      yield* report
      assert.deepStrictEqual(
        received.map(({ refusals }) => refusals.map(({ address }) => address)),
        [["192.0.2.1"], ["192.0.2.2"]]
      )
      yield* report
      assert.lengthOf(received, 2)
    })
  )
})
