/** The connection itself: first bytes, heartbeats, what is accepted, and that a HEAD request opens no stream. */
import { assert, layer } from "@effect/vitest"
import { EventBroker, EventLog } from "@narthex/core"
import { Duration, Effect } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { Ahead, everyServing } from "../support/apiOver.ts"
import { call, TestApi } from "../support/wire.ts"
import { open, opened } from "./support/FetchStream.ts"
import { opened as openedRaw, RawStream, requestText } from "./support/RawStream.ts"
import { allRead, counting, signedIn, state, stillApi } from "./support/streamApi.ts"

const heartbeat = 200
/** The latest time of a heartbeat: it may differ by a fifth, and a tenth for the interval of the checks. */
const surely = Duration.millis(1.3 * heartbeat)

for (const serving of everyServing) {
  const overSocket = serving !== "fetch"

  layer(stillApi({ heartbeat: Duration.millis(heartbeat), event_bytes: 64 * 1024 }, { serving }), {
    excludeTestServices: true
  })("a stream's connection", (it) => {
    it.effect("a stream is open at once, before there is any event", () =>
      Effect.gen(function* () {
        const { org, token } = yield* signedIn("first@example.com")
        const stream = yield* opened({ token })
        // Nothing came behind the first line that could have pushed it along: the clock stands still.
        assert.strictEqual(stream.text, ": ok\n")
        assert.strictEqual(stream.status, 200)
        assert.strictEqual(stream.header("content-type"), "text/event-stream; charset=utf-8")
        assert.strictEqual(stream.header("cache-control"), "no-store, no-transform")
        assert.strictEqual(stream.header("x-accel-buffering"), "no")
        assert.strictEqual(stream.header("connection"), overSocket ? "close" : undefined)
        assert.isUndefined(stream.header("content-encoding"))
        assert.isUndefined(stream.header("content-length"))
        yield* state(org, counting(1, 1))
        yield* stream.until("the first event", ({ events }) => events.length === 1)
      })
    )

    it.effect("a stream carries heartbeat comments while there are no events", () =>
      Effect.gen(function* () {
        const { token } = yield* signedIn("quiet@example.com")
        const stream = yield* opened({ token })
        const { by } = yield* Ahead
        for (let beats = 1; beats <= 10; beats++) {
          yield* by(surely)
          yield* stream.until(`heartbeat ${beats}`, ({ text }) => text.length >= ": ok\n".length + 2 * beats)
        }
        assert.strictEqual(stream.text, `: ok\n${":\n".repeat(10)}`)
      })
    )

    it.effect("a stream carries bookmarks and retry only for clients that request them", () =>
      Effect.gen(function* () {
        const { org, token } = yield* signedIn("bookmarks@example.com")
        yield* state(org, counting(1, 1))
        const head = yield* Effect.flatMap(EventLog, ({ headOf }) => headOf(org))
        yield* allRead
        const asking = yield* opened({ token, path: "/v1/events?bookmarks=1" })
        assert.match(asking.text, new RegExp(`^: ok\\nretry: \\d+\\n\\nid: ${head}\\n\\n`))
        for (const path of ["/v1/events", "/v1/events?bookmarks=0", "/v1/events?bookmarks=true"]) {
          const plain = yield* opened({ token, path })
          assert.strictEqual(plain.text.split("\n")[0], ": ok")
          assert.notMatch(plain.text, /retry|id/)
        }
      })
    )

    if (serving === "server")
      it.effect("the body of a stream is its blocks and nothing else, up to the end of the connection", () =>
        Effect.gen(function* () {
          const { org, token } = yield* signedIn("plain@example.com")
          for (const version of ["1.0", "1.1"]) {
            const stream = yield* openedRaw({ token, version })
            assert.isUndefined(stream.header("transfer-encoding"))
            yield* state(org, counting(1, 3))
            yield* stream.until("events", ({ events }) => events.length === 3)
            assert.match(stream.text, /^: ok\n(id: \w{26}\nevent: [\w.]+\ndata: \{.*\}\n\n){3}$/)
          }
        })
      )

    it.effect("HEAD of a stream answers the headers and opens no stream", () =>
      Effect.gen(function* () {
        const { token } = yield* signedIn("head@example.com")
        const { streams } = yield* EventBroker
        const before = streams.size
        const answer = yield* call("HEAD", "/v1/events", { token })
        assert.strictEqual(answer.status, 200)
        assert.strictEqual(answer.headers["content-type"], "text/event-stream; charset=utf-8")
        const stream = yield* open({ token, method: "HEAD", headers: ["Connection: close"] })
        yield* stream.until("over", ({ closed }) => closed)
        assert.strictEqual(stream.text, "")
        assert.strictEqual(streams.size, before)
      })
    )

    const accepts: ReadonlyArray<readonly [string | null, number]> = [
      [null, 200],
      ["*/*", 200],
      ["text/*", 200],
      ["text/event-stream", 200],
      ["TEXT/Event-Stream; charset=utf-8", 200],
      ["application/json, text/event-stream;q=0.1", 200],
      ["application/json", 406],
      ["text/html, application/xml", 406],
      ["text/event-stream;q=0", 406],
      ["text/event-streamer", 406]
    ]

    it.effect("a stream is 406 for clients that do not accept event streams", () =>
      Effect.gen(function* () {
        const { token } = yield* signedIn("accept@example.com")
        for (const [accept, status] of accepts) {
          const stream = yield* open({ token, headers: accept === null ? [] : [`Accept: ${accept}`] })
          yield* stream.until("answered", (it) => it.status !== 0)
          assert.strictEqual(stream.status, status, String(accept))
          if (status !== 406) continue
          yield* stream.until("explained", (it) => it.text !== "")
          assert.strictEqual(JSON.parse(stream.text).code, "not_acceptable")
        }
      })
    )

    it.effect("a stream carries an event of 64 KiB, and error.v1 instead of a larger one", () =>
      Effect.gen(function* () {
        const { org, token } = yield* signedIn("large@example.com")
        const stream = yield* opened({ token })
        yield* state(org, counting(1, 1, 64 * 1024 - 400))
        yield* state(org, counting(2, 1, 64 * 1024))
        const head = yield* Effect.flatMap(EventLog, ({ headOf }) => headOf(org))
        yield* state(org, counting(3, 1, 4 * 1024 * 1024))
        yield* state(org, counting(4, 1))
        yield* stream.until("all", ({ events }) => events.length === 4)
        const [first, second, third, fourth] = stream.events
        assert.strictEqual(JSON.parse(first?.data ?? "null").data.pad.length, 64 * 1024 - 400)
        if (second?.event !== "error.v1") return assert.fail(`There was ${second?.event}.`)
        assert.strictEqual(second.id, head)
        assert.deepInclude(JSON.parse(second.data ?? "null"), { id: head, source: "_broker", org_id: org })
        assert.strictEqual(JSON.parse(second.data ?? "null").data.code, "event_too_large")
        assert.strictEqual(third?.event, "error.v1")
        assert.strictEqual(JSON.parse(fourth?.data ?? "null").data.n, 4)
      })
    )

    if (overSocket)
      it.effect("pipelined stream requests on one socket do not block other streams", () =>
        Effect.gen(function* () {
          const { org, token } = yield* signedIn("pipeline@example.com")
          const { port } = yield* TestApi
          const { streams } = yield* EventBroker
          const before = streams.size
          const piped = yield* Effect.acquireRelease(
            Effect.sync(() => new RawStream(port, requestText({ token }).repeat(20))),
            ({ socket }) => Effect.sync(() => socket.destroy())
          )
          yield* piped.until("open", ({ text }) => text.startsWith(": ok\n"))
          const other = yield* openedRaw({ token })
          yield* state(org, counting(1, 5))
          yield* other.until("events", ({ events }) => events.length === 5)
          yield* piped.until("events", ({ events }) => events.length === 5)
          piped.socket.resetAndDestroy()
          other.socket.resetAndDestroy()
          yield* eventually(
            "the places of all that were reset",
            Effect.sync(() => streams.size <= before)
          )
        })
      )
  })
}
