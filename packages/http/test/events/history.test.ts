/** The history of events over HTTP: oldest first or newest first, in pages. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { everyServing } from "../support/apiOver.ts"
import { call } from "../support/wire.ts"
import { counting, signedIn, state, streamApi } from "./support/streamApi.ts"

const numbers = (events: ReadonlyArray<{ readonly data: { readonly n: number } }>) => events.map(({ data }) => data.n)

for (const serving of everyServing)
  layer(streamApi({}, { serving }), { excludeTestServices: true })("the history", (it) => {
    it.effect("the newest events are the first page of a descending history, and its cursor leads to older ones", () =>
      Effect.gen(function* () {
        const { org, token } = yield* signedIn("newest@example.com")
        yield* state(org, counting(1, 5))
        const read = (query: string) => call("GET", `/v1/events/history?${query}`, { token })
        const first = (yield* read("order=desc&limit=2")).body
        assert.deepStrictEqual(numbers(first.events), [5, 4])
        const second = (yield* read(`order=desc&limit=2&cursor=${first.pagination.next_cursor}`)).body
        assert.deepStrictEqual(numbers(second.events), [3, 2])
        const third = (yield* read(`order=desc&limit=2&cursor=${second.pagination.next_cursor}`)).body
        assert.deepStrictEqual(numbers(third.events), [1])
        assert.isNull(third.pagination.next_cursor)
        assert.strictEqual(third.oldest_id, third.events[0].id)
        const since = (yield* read(`order=desc&after=${third.events[0].id.toLowerCase()}`)).body
        assert.deepStrictEqual(numbers(since.events), [5, 4, 3, 2])
      })
    )

    it.effect("an ascending history is the default, and another order is refused", () =>
      Effect.gen(function* () {
        const { org, token } = yield* signedIn("oldest@example.com")
        yield* state(org, counting(1, 3))
        for (const query of ["", "?order=asc"])
          assert.deepStrictEqual(
            numbers((yield* call("GET", `/v1/events/history${query}`, { token })).body.events),
            [1, 2, 3]
          )
        const refused = yield* call("GET", "/v1/events/history?order=newest", { token })
        assert.deepStrictEqual([refused.status, refused.body.code], [422, "invalid_request"])
      })
    )
  })
