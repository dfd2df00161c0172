/**
 * Any value of `Last-Event-ID` is a position or a gap: never a refusal, and never another organization's events.
 * Holds docs/design/events.md E24.
 */
import { assert, layer } from "@effect/vitest"
import { EventBroker, EventLog, noEvent } from "@narthex/core"
import { Effect } from "effect"
import { everyServing, type Serving } from "../support/apiOver.ts"
import { opened } from "./support/FetchStream.ts"
import { allRead, counting, signedIn, state, streamApi } from "./support/streamApi.ts"

const api = (serving: Serving) => streamApi({ ring_events: 16 }, { serving })

const following = (token: string, id: string) =>
  Effect.andThen(allRead, opened({ token, headers: [`Last-Event-ID: ${id}`] }))

const envelope = (data: string | undefined) => JSON.parse(data ?? "null")

for (const serving of everyServing)
  layer(api(serving), { excludeTestServices: true })("Last-Event-ID", (it) => {
    const malformed = [
      "null",
      "undefined",
      "0",
      "-1",
      "01ARZ3NDEKTSV4RRFFQ69G5FA",
      "01ARZ3NDEKTSV4RRFFQ69G5FAVV",
      "81ARZ3NDEKTSV4RRFFQ69G5FAV",
      "01ARZ3NDEKTSV4RRFFQ69G5FIV",
      "01ARZ3NDEKTSV4RRFFQ69G5F V",
      "01ARZ3NDEKTSV4RRFFQ69G5F\xe9V",
      "01ARZ3NDEKTSV4RRFFQ69G5FAV, 01ARZ3NDEKTSV4RRFFQ69G5FAV",
      "../../etc/passwd",
      "id: x",
      "%0d%0aX-Evil: 1",
      "'; drop table event_log; --",
      "x".repeat(8_000)
    ]

    it.effect("the query parameter lastEventId is the position where the header is missing", () =>
      Effect.gen(function* () {
        const { org, token } = yield* signedIn("query@example.com")
        yield* state(org, counting(1, 3))
        yield* allRead
        const stream = yield* opened({ token, path: "/v1/events?lastEventId=null" })
        yield* stream.until("a gap", ({ events }) => events.length > 0)
        assert.strictEqual(envelope(stream.events[0]?.data).type, "resume.gap.v1")
        const latest_id = yield* Effect.flatMap(EventLog, ({ headOf }) => headOf(org))
        const resumed = yield* opened({
          token,
          path: `/v1/events?lastEventId=${latest_id}`,
          headers: ["Last-Event-ID: null"]
        })
        yield* resumed.until("a gap", ({ events }) => events.length > 0)
        assert.strictEqual(envelope(resumed.events[0]?.data).type, "resume.gap.v1")
      })
    )

    it.effect.each(malformed.map((id) => [id.slice(0, 40), id] as const))(
      "Last-Event-ID %s is a gap: malformed",
      ([, id]) =>
        Effect.gen(function* () {
          const { org, token } = yield* signedIn("malformed@example.com")
          yield* state(org, counting(1, 3))
          const stream = yield* following(token, id)
          yield* stream.until("a gap", ({ events }) => events.length > 0)
          const latest_id = yield* Effect.flatMap(EventLog, ({ headOf }) => headOf(org))
          const { data, id: own, type } = envelope(stream.events[0]?.data)
          assert.strictEqual(type, "resume.gap.v1")
          assert.strictEqual(own, `${latest_id.slice(0, -1)}1`)
          assert.deepInclude(data, {
            reason: "malformed",
            last_event_id: null,
            latest_id,
            history_url: "/v1/events/history"
          })
          assert.notInclude(stream.text, "evil")
        })
    )

    it.effect("Last-Event-ID of another organization is a gap like a forged one, and reveals nothing about it", () =>
      Effect.gen(function* () {
        const ada = yield* signedIn("ada@example.com")
        const eve = yield* signedIn("eve@example.com")
        const headOf = (org: typeof ada.org) => Effect.flatMap(EventLog, (log) => log.headOf(org))
        yield* state(ada.org, counting(100, 1))
        const foreign = yield* headOf(ada.org)
        yield* state(ada.org, counting(101, 2))
        yield* state(eve.org, counting(1, 2))
        const forged = `${foreign.slice(0, 10)}${"Z".repeat(14)}Z0`
        for (const id of [foreign, forged]) {
          const stream = yield* following(eve.token, id)
          yield* stream.until("a gap", ({ events }) => events.length === 1)
          const latest_id = yield* headOf(eve.org)
          const { data, org_id } = envelope(stream.events[0]?.data)
          assert.deepInclude(data, { reason: "ahead", last_event_id: id, latest_id })
          assert.strictEqual(org_id, eve.org)
          assert.notInclude(stream.text, ada.org)
        }
      })
    )

    it.effect("Last-Event-ID of the future is a gap: ahead, and the stream continues from the head", () =>
      Effect.gen(function* () {
        const { org, token } = yield* signedIn("future@example.com")
        yield* state(org, counting(1, 1))
        const stream = yield* following(token, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ")
        yield* stream.until("a gap", ({ events }) => events.length === 1)
        assert.strictEqual(envelope(stream.events[0]?.data).data.reason, "ahead")
        yield* state(org, counting(2, 1))
        yield* stream.until("the next event", ({ events }) => events.length === 2)
        assert.strictEqual(envelope(stream.events[1]?.data).data.n, 2)
      })
    )

    it.effect("Last-Event-ID older than the ring is a gap only when an event was lost", () =>
      Effect.gen(function* () {
        const { org, token } = yield* signedIn("ancient@example.com")
        const before = yield* Effect.flatMap(EventLog, ({ headOf }) => headOf(org))
        yield* state(org, counting(1, 16))
        const whole = yield* following(token, before)
        yield* whole.until("a replay", ({ events }) => events.length === 16)
        assert.deepStrictEqual(
          whole.events.map((event) => envelope(event.data).data.n),
          Array.from({ length: 16 }, (_, at) => at + 1)
        )
        yield* state(org, counting(17, 1))
        for (const id of [before, noEvent]) {
          const late = yield* following(token, id)
          yield* late.until("a gap", ({ events }) => events.length > 0)
          const { data } = envelope(late.events[0]?.data)
          assert.deepInclude(data, {
            reason: "too_old",
            last_event_id: id,
            history_url: `/v1/events/history?after=${id}`
          })
          assert.strictEqual(late.events.length, 1)
        }
      })
    )

    it.effect("Last-Event-ID counts in any letter case, and a control frame's id resumes after it", () =>
      Effect.gen(function* () {
        const { org, token } = yield* signedIn("case@example.com")
        yield* state(org, counting(1, 1))
        const head = yield* Effect.flatMap(EventLog, ({ headOf }) => headOf(org))
        yield* state(org, counting(2, 1))
        for (const id of [head.toLowerCase(), `${head.slice(0, -1)}1`, `${head.slice(0, -1)}2`]) {
          const stream = yield* following(token, id)
          yield* stream.until("a replay", ({ events }) => events.length > 0)
          assert.deepStrictEqual(
            stream.events.map((event) => envelope(event.data).data.n),
            [2]
          )
        }
      })
    )

    it.effect("an empty Last-Event-ID starts with new events", () =>
      Effect.gen(function* () {
        const { org, token } = yield* signedIn("empty@example.com")
        yield* state(org, counting(1, 1))
        const stream = yield* following(token, "")
        const { streams } = yield* EventBroker
        assert.isAbove(streams.size, 0)
        yield* state(org, counting(2, 1))
        yield* stream.until("an event", ({ events }) => events.length > 0)
        assert.strictEqual(envelope(stream.events[0]?.data).data.n, 2)
      })
    )
  })
