/** Nothing in an event, a header or a query ends a line early, adds a header or makes a block of its own. */
import { assert, layer } from "@effect/vitest"
import { EventLog } from "@narthex/core"
import { Effect } from "effect"
import { everyServing } from "../support/apiOver.ts"
import { open, opened } from "./support/FetchStream.ts"
import { signedIn, state, streamApi } from "./support/streamApi.ts"

const nasty = [
  "\n\nid: 7ZZZZZZZZZZZZZZZZZZZZZZZZZ\nevent: evil.v1\ndata: {}\n\n",
  "\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
  "\rdata: evil\r\r",
  "\u2028event: evil.v1\u2029\u0085",
  "\ufeff: evil",
  "\0\ud800 half a pair \udc00", // replaced when it is logged: Postgres stores neither NUL nor half a pair
  "0\r\n\r\n"
]

for (const serving of everyServing)
  layer(streamApi({}, { serving }), { excludeTestServices: true })("injection", (it) => {
    it.effect("event data stays on one line and arrives as it was logged", () =>
      Effect.gen(function* () {
        const { org, token } = yield* signedIn("ada@example.com")
        const stream = yield* opened({ token })
        for (const text of nasty) yield* state(org, [{ data: { text, [text]: 1 } }])
        yield* stream.until("all", ({ events }) => events.length === nasty.length)
        assert.deepStrictEqual(
          stream.events.map((event) => JSON.parse(event.data ?? "null").data.text),
          nasty.map((text) => text.toWellFormed().replaceAll("\0", "\ufffd"))
        )
        for (const { lines } of stream.events)
          assert.deepStrictEqual(
            lines.filter((line) => !line.startsWith(":")).map((line) => line.split(":")[0]),
            ["id", "event", "data"]
          )
        assert.isFalse(/[\r\0]/.test(stream.text))
      })
    )

    it.effect("an invalid event type becomes error.v1 with the event's id, and the stream continues", () =>
      Effect.gen(function* () {
        const { org, token } = yield* signedIn("types@example.com")
        const stream = yield* opened({ token })
        const types = ["evil\nevent: x.v1", "Evil.v1", "evil", "", "a..b.v1", "operation.updated.v1\r"]
        for (const type of types) {
          yield* state(org, [{ type, data: { secret: "payload" } }])
          yield* stream.until("told", ({ events }) => events.length === types.indexOf(type) + 1)
          const head = yield* Effect.flatMap(EventLog, ({ headOf }) => headOf(org))
          const told = stream.events.at(-1)
          if (told?.event !== "error.v1") return assert.fail(`There was ${told?.event}.`)
          assert.strictEqual(told.id, head)
          assert.strictEqual(JSON.parse(told.data ?? "null").data.code, "event_unencodable")
        }
        yield* state(org, [{ data: { n: 1 } }])
        yield* stream.until("the next", ({ events }) => events.length === types.length + 1)
        assert.notInclude(stream.text, "payload")
      })
    )

    it.effect("the query of a stream request is not written to the stream", () =>
      Effect.gen(function* () {
        const { token } = yield* signedIn("query@example.com")
        const path = "/v1/events?types=%0d%0aX-Evil:%201,%0a%0aevent:evil.v1&bookmarks=1%0d%0aX-Evil:1&other=%00"
        const stream = yield* opened({ token, path })
        assert.strictEqual(stream.status, 200)
        assert.notInclude(`${stream.head}${stream.text}`.toLowerCase(), "evil")
      })
    )

    // A request of the Fetch standard has no such headers.
    if (serving !== "fetch")
      it.effect("invalid HTTP headers are 400 and open no stream", () =>
        Effect.gen(function* () {
          const { token } = yield* signedIn("headers@example.com")
          for (const line of [
            "Last-Event-ID: 01ARZ3NDEKTSV4RRFFQ69G5F\0V",
            "Last-Event-ID: a\rX-Evil: 1",
            "Last-Event-ID : a",
            "Transfer-Encoding: chunked\r\nContent-Length: 5"
          ]) {
            const stream = yield* open({ token, headers: [line] })
            yield* stream.until("refused", ({ status }) => status !== 0)
            assert.strictEqual(stream.status, 400, JSON.stringify(line))
            assert.notInclude(stream.text, ": ok")
          }
        })
      )

    it.effect("a credential is read from its header only", () =>
      Effect.gen(function* () {
        const { token } = yield* signedIn("credential@example.com")
        for (const name of ["access_token", "authorization", "token"]) {
          const stream = yield* open({ token: null, path: `/v1/events?${name}=${token}` })
          yield* stream.until("refused", ({ status }) => status !== 0)
          assert.strictEqual(stream.status, 401, name)
        }
      })
    )
  })
