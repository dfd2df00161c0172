/** Event streams of the API as a function: rights that end while a reader does not read, and readers that leave. */
import { assert, layer } from "@effect/vitest"
import { EventBroker } from "@narthex/core"
import { Duration, Effect } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { call } from "../support/wire.ts"
import { openFetch } from "./support/FetchStream.ts"
import type { SeenStream } from "./support/SeenStream.ts"
import { counting, signedIn, state, streamApi } from "./support/streamApi.ts"

const opened = (token: string) =>
  Effect.tap(openFetch({ token }), (stream) => stream.until("open", ({ text }) => text.startsWith(": ok\n")))

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
