/** An instance that has other events than its client. Holds docs/design/events.md E24. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { ProjectId } from "../../../src/Ids.ts"
import { EventStreams } from "../../../src/services/events/streams/EventStreams.ts"
import { idAt, logged, org, principal, TestSink } from "../fixtures.ts"
import { Script } from "../scriptedLog.ts"

const rows = (count: number) => Array.from({ length: count }, (_, index) => logged(index + 1))

/** Connects behind an id; `undefined` while that has not succeeded. */
const connect = Effect.fnUntraced(function* (last_event_id: string | undefined, project_id: ProjectId | null = null) {
  const sink = new TestSink()
  const connecting = yield* Effect.forkChild(
    (yield* EventStreams).subscribe({
      access: { org_id: org, project_id, principal: principal() },
      expires_at: null,
      types: [],
      bookmarks: false,
      last_event_id,
      open: () => sink
    })
  )
  yield* TestClock.adjust("10 seconds")
  return connecting.pollUnsafe()?._tag === "Success" ? sink : undefined
})

describe("an instance that is behind its client", () => {
  it.effect("an instance that is behind its client catches up with the log before it replies", () => {
    const script = new Script()
    script.rows = rows(1)
    return Effect.gen(function* () {
      yield* connect(undefined)
      script.rows = rows(3)
      const sink = yield* connect(idAt(2))
      assert.deepStrictEqual(sink?.ids, [idAt(3)])
    }).pipe(Effect.provide(script.layer()))
  })

  it.effect("a position that the log has is no gap, even if this instance has not received it", () => {
    const script = new Script()
    script.rows = rows(1)
    return Effect.gen(function* () {
      script.headOf = idAt(5)
      const known = yield* connect(idAt(5))
      const invented = yield* connect(idAt(6))
      assert.notInclude(known?.text, "resume.gap.v1")
      assert.deepInclude(invented?.data("resume.gap.v1"), { reason: "ahead" })
    }).pipe(Effect.provide(script.layer()))
  })
})

describe("a client that had events which the log lost", () => {
  it.effect("a position that the log lost is a gap, also where ring and log are past it", () => {
    const script = new Script()
    script.rows = [logged(1), logged(3)]
    return Effect.gen(function* () {
      const lost = yield* connect(idAt(2))
      assert.deepInclude(lost?.data("resume.gap.v1"), { reason: "ahead", last_event_id: idAt(2), latest_id: idAt(3) })
      const kept = yield* connect(idAt(1))
      assert.deepStrictEqual(kept?.ids, [idAt(3)])
    }).pipe(Effect.provide(script.layer()))
  })

  it.effect("a position that the log lost is a gap on an instance that is behind the log", () => {
    const script = new Script()
    script.rows = rows(1)
    return Effect.gen(function* () {
      script.headOf = idAt(5)
      const lost = yield* connect(idAt(4))
      assert.deepInclude(lost?.data("resume.gap.v1"), { reason: "ahead", last_event_id: idAt(4) })
    }).pipe(Effect.provide(script.layer()))
  })

  it.effect("a position that the log lost is a gap also where the floor of the log has risen above it", () => {
    const script = new Script()
    script.rows = rows(1)
    return Effect.gen(function* () {
      yield* connect(undefined)
      // A server with another timeline goes on.
      script.floor = idAt(3)
      script.rows = [logged(1), { ...logged(4), pos: 2 }]
      const lost = yield* connect(idAt(2))
      assert.deepInclude(lost?.data("resume.gap.v1"), { last_event_id: idAt(2), latest_id: idAt(4) })
    }).pipe(Effect.provide(script.layer()))
  })

  it.effect("a position that the log lost is a gap where the ring has only newer events", () => {
    const script = new Script()
    script.rows = [1, 4, 5, 6].map((n) => logged(n))
    return Effect.gen(function* () {
      const projects = connect(idAt(2), ProjectId.make("prj-of-no-event"))
      assert.deepInclude((yield* projects)?.data("resume.gap.v1"), { reason: "ahead", last_event_id: idAt(2) })
    }).pipe(Effect.provide(script.layer({ ring_events: 2 })))
  })
})

describe("replays", () => {
  it.effect("a replay that has caught up gives its turn to the next", () => {
    const script = new Script()
    script.rows = rows(4)
    return Effect.gen(function* () {
      for (let client = 0; client < 3; client++) {
        const sink = yield* connect(idAt(1))
        assert.deepStrictEqual(sink?.ids, [idAt(2), idAt(3), idAt(4)])
      }
    }).pipe(Effect.provide(script.layer({ replays: 1 })))
  })
})
