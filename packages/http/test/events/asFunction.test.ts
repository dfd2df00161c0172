/** Event streams of the API as a function: rights that end, and readers that are slow, have left, or never read. */
import { assert, layer } from "@effect/vitest"
import { EventBroker } from "@narthex/core"
import { Duration, Effect } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { call } from "../support/wire.ts"
import { openFetch } from "./support/FetchStream.ts"
import type { SeenStream } from "./support/SeenStream.ts"
import { counting, signedIn, state, streamApi } from "./support/streamApi.ts"

/** Far more than a body and the ring hold. */
const mostEvents = 10_000

const opened = (token: string, headers: ReadonlyArray<string> = []) =>
  Effect.tap(openFetch({ token, headers }), (stream) => stream.until("open", ({ text }) => text.startsWith(": ok\n")))

const numbers = ({ events }: SeenStream) =>
  events.filter(({ event }) => event === "operation.updated.v1").map(({ data }) => JSON.parse(data ?? "null").data.n)

layer(streamApi({ ring_events: 32, linger: Duration.hours(1) }, { serving: "fetch" }), { excludeTestServices: true })(
  "an event stream of the API as a function",
  (it) => {
    it.effect("a revoked key gets no event that was committed later, also while its reader does not read", () =>
      Effect.gen(function* () {
        const { org, token } = yield* signedIn("revoked@example.com")
        const { body } = yield* call("POST", "/v1/api-keys/", { token, body: { name: "reader" } })
        const reading = yield* opened(body.secret)
        const stalled = yield* opened(body.secret)
        const other = yield* opened(token)
        stalled.pause()
        yield* state(org, counting(1, 3))
        yield* reading.until("events", ({ events }) => events.length === 3)
        yield* call("DELETE", `/v1/api-keys/${body.api_key.id}`, { token })
        yield* state(org, counting(4, 3))
        yield* other.until("all events", (stream) => numbers(stream).length === 6)
        stalled.resume()
        for (const stream of [reading, stalled]) {
          yield* stream.until("over", ({ closed }) => closed)
          assert.deepStrictEqual(numbers(stream), [1, 2, 3])
          assert.match(stream.text, /: closing reason=revoked\n$/)
        }
        assert.isFalse(other.closed)
      })
    )

    it.effect("the streams of a session end at sign-out", () =>
      Effect.gen(function* () {
        const { token } = yield* signedIn("leaving@example.com")
        const stream = yield* opened(token)
        assert.strictEqual((yield* call("POST", "/v1/auth/logout", { token })).status, 204)
        yield* stream.until("over", ({ closed }) => closed)
        assert.match(stream.text, /: closing reason=revoked\n$/)
      })
    )

    it.effect("a slow reader learns exactly how much it missed, and its next stream continues there", () =>
      Effect.gen(function* () {
        const { org, token } = yield* signedIn("slow@example.com")
        const { streams } = yield* EventBroker
        const slow = yield* opened(token)
        const watch = yield* opened(token)
        slow.pause()
        let published = 0
        while (streams.size > 1) {
          yield* state(org, counting(published + 1, 8, 20_000))
          published += 8
          assert.isAtMost(published, mostEvents, "the stalled stream is given up")
          yield* watch.until(`${published} events`, (stream) => numbers(stream).at(-1) === published)
        }
        slow.resume()
        yield* slow.until("over", ({ closed }) => closed)
        const last = slow.events.at(-1)
        if (last?.event !== "overflow.v1") return assert.fail(`It ended with ${last?.event}.`)
        const { dropped, latest_id } = JSON.parse(last.data ?? "null").data
        const received = numbers(slow)
        assert.deepStrictEqual(
          received,
          Array.from({ length: received.length }, (_, at) => at + 1)
        )
        const latest = numbers(watch)[watch.events.findIndex(({ id }) => id === latest_id)]
        assert.strictEqual(received.length + dropped, latest)
        assert.isAbove(dropped, 0)

        const back = yield* opened(token, [`Last-Event-ID: ${last.id}`])
        yield* state(org, counting(published + 1, 1))
        yield* back.until("the next", ({ events }) => events.length > 0)
        assert.deepStrictEqual(numbers(back), [latest + 1])
      })
    )

    it.effect("a request that is aborted gives its stream's place back", () =>
      Effect.gen(function* () {
        const { token } = yield* signedIn("gone@example.com")
        const { streams } = yield* EventBroker
        const before = streams.size
        const stream = yield* opened(token)
        assert.strictEqual(streams.size, before + 1)
        stream.leave()
        yield* eventually(
          "its place",
          Effect.sync(() => streams.size === before)
        )
      })
    )
  }
)
