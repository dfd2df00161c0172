/**
 * Event streams over HTTP/2: the same bytes, many streams on one connection, and none of them in the way of another.
 */
import { constants, createServer } from "node:http2"
import { assert, describe, it, layer } from "@effect/vitest"
import { EventBroker, type EventLimits, EventLog, OrgId } from "@narthex/core"
import { Duration, Effect, Exit, Layer, Scope } from "effect"
import { eventually, within } from "../../../../test/harness/eventually.ts"
import { Ahead, type Serving, servings } from "../support/apiOver.ts"
import { TestApi } from "../support/wire.ts"
import { Http2Client, http2Client } from "./support/Http2Client.ts"
import { counting, state, stillApi, streamApi } from "./support/streamApi.ts"

const api = (serving: Serving, settings: Parameters<typeof stillApi>[0]) =>
  stillApi(settings, { createServer, serving })

/** A session, and a person who is signed in over it. */
const visitor = (email: string) =>
  Effect.gen(function* () {
    const client = yield* http2Client
    const token = yield* client.signIn(email)
    const who = client.request({ ":path": "/v1/auth/whoami", authorization: `Bearer ${token}` })
    yield* who.until("answered", ({ ended }) => ended)
    return { client, token, org: OrgId.make(JSON.parse(who.text).organization.id) }
  })

const open = Effect.map(EventBroker, ({ streams }) => streams.size)

const openAre = (count: number) =>
  eventually(
    `${count} streams`,
    Effect.map(open, (it) => it === count)
  )

const numbers = (events: ReadonlyArray<{ readonly data: string | undefined }>) =>
  events.map(({ data }) => JSON.parse(data ?? "null").data.n)

const oneTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1)

/** Far more than a window and a ring hold. */
const mostEvents = 10_000

const heartbeat = 200
/** The latest time of a heartbeat: it may differ by a fifth, and a tenth for the interval of the checks. */
const surely = Duration.millis(1.3 * heartbeat)

for (const serving of servings)
  layer(api(serving, { heartbeat: Duration.millis(heartbeat), ring_events: 64 }), { excludeTestServices: true })(
    "a stream over HTTP/2",
    (it) => {
      it.effect("a stream over HTTP/2 is open at once, with headers that HTTP/2 allows", () =>
        Effect.gen(function* () {
          const { client, org, token } = yield* visitor("first@example.com")
          const stream = yield* client.opened(token)
          // Nothing came behind the first line that could have pushed it along: the clock stands still.
          assert.strictEqual(stream.text, ": ok\n")
          assert.strictEqual(stream.status, 200)
          assert.deepInclude(stream.headers, {
            "content-type": "text/event-stream; charset=utf-8",
            "cache-control": "no-store, no-transform",
            "x-accel-buffering": "no"
          })
          assert.isString(stream.headers["x-request-id"])
          for (const name of ["connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding"])
            assert.notProperty(stream.headers, name)
          yield* state(org, counting(1, 1))
          yield* stream.until("the first event", ({ events }) => events.length === 1)
        })
      )

      it.effect("a stream over HTTP/2 carries whole events up to the largest size, and only the requested types", () =>
        Effect.gen(function* () {
          const { client, org, token } = yield* visitor("types@example.com")
          const all = yield* client.opened(token)
          const some = yield* client.opened(token, "/v1/events?types=other.done.v1,another.v1")
          yield* state(org, counting(1, 2))
          yield* state(org, [{ type: "other.done.v1", data: { n: 3, text: "żółć 🐘 \u2028 \r\n\n data: x" } }])
          yield* state(org, counting(4, 1, 64 * 1024 - 400))
          yield* state(org, [{ type: "another.v1", data: { n: 5 } }])
          yield* all.until("all events", ({ events }) => events.length === 5)
          yield* some.until("its events", ({ events }) => events.length === 2)
          assert.deepStrictEqual(numbers(all.events), [1, 2, 3, 4, 5])
          assert.deepStrictEqual(numbers(some.events), [3, 5])
          for (const { data, event, id, lines } of all.events) {
            const envelope = JSON.parse(data ?? "null")
            assert.deepStrictEqual([id, event], [envelope.id, envelope.type])
            const fields = lines.filter((line) => !line.startsWith(":")).map((line) => line.split(":")[0])
            assert.deepStrictEqual(fields, ["id", "event", "data"])
          }
          assert.notMatch(all.text, /\r|^[0-9a-f]+$/m) // no line breaks and chunk sizes of HTTP/1.1
        })
      )

      it.effect("a stream over HTTP/2 resumes after the last id, and reports a gap for one that is too old", () =>
        Effect.gen(function* () {
          const { client, org, token } = yield* visitor("resume@example.com")
          yield* state(org, counting(1, 1))
          const first = yield* Effect.flatMap(EventLog, ({ headOf }) => headOf(org))
          yield* state(org, counting(2, 40))
          const back = yield* client.opened(token, "/v1/events", { "last-event-id": first })
          yield* state(org, counting(42, 1))
          yield* back.until("what was missed and what came since", ({ events }) => events.length === 41)
          assert.deepStrictEqual(numbers(back.events), oneTo(42).slice(1))
          yield* state(org, counting(43, 64))
          const late = yield* client.opened(token, "/v1/events", { "last-event-id": first })
          yield* late.until("a gap", ({ events }) => events.length === 1)
          assert.strictEqual(late.events[0]?.event, "resume.gap.v1")
        })
      )

      it.effect("a stream over HTTP/2 carries heartbeat comments while there are no events", () =>
        Effect.gen(function* () {
          const { client, token } = yield* visitor("quiet@example.com")
          const stream = yield* client.opened(token)
          const { by } = yield* Ahead
          for (let beats = 1; beats <= 5; beats++) {
            yield* by(surely)
            yield* stream.until(`heartbeat ${beats}`, ({ text }) => text.length >= ": ok\n".length + 2 * beats)
          }
          assert.strictEqual(stream.text, `: ok\n${":\n".repeat(5)}`)
        })
      )

      it.effect("a body over HTTP/2 that is not JSON is 415, though no header announces it", () =>
        Effect.gen(function* () {
          const { client, token } = yield* visitor("typed@example.com")
          const headers = { ":method": "POST", authorization: `Bearer ${token}`, "content-type": "text/plain" }
          const [filled, empty] = [
            client.request({ ...headers, ":path": "/v1/projects" }, { name: "x" }),
            client.request({ ...headers, ":path": "/v1/projects" })
          ]
          for (const answer of [filled, empty]) yield* answer.until("answered", ({ ended }) => ended)
          assert.deepStrictEqual([filled.status, empty.status], [415, 422])
        })
      )

      it.effect("a stream over HTTP/2 answers HEAD with headers only, and refuses as over HTTP/1.1", () =>
        Effect.gen(function* () {
          const { client, token } = yield* visitor("head@example.com")
          const before = yield* open
          const authorization = `Bearer ${token}`
          const head = client.request({ ":path": "/v1/events", ":method": "HEAD", authorization })
          const refused = client.request({ ":path": "/v1/events", authorization, accept: "application/json" })
          const unknown = client.request({ ":path": "/v1/events", authorization: "Bearer x" })
          for (const answer of [head, refused, unknown]) yield* answer.until("over", ({ closed }) => closed)
          assert.deepStrictEqual([head.status, refused.status, unknown.status], [200, 406, 401])
          assert.strictEqual(head.headers["content-type"], "text/event-stream; charset=utf-8")
          assert.strictEqual(JSON.parse(refused.text).code, "not_acceptable")
          assert.strictEqual(yield* open, before)
        })
      )
    }
  )

for (const serving of servings)
  layer(api(serving, { ring_events: 64, linger: Duration.seconds(30) }), { excludeTestServices: true })(
    "a stalled stream of an HTTP/2 connection",
    (it) => {
      it.effect("a stalled reader over HTTP/2 delays no other, and learns exactly what it missed", () =>
        Effect.gen(function* () {
          const { client, org, token } = yield* visitor("stalled@example.com")
          const stalled = yield* client.opened(token)
          const others = [yield* client.opened(token), yield* client.opened(token)]
          stalled.stream.pause()
          let published = 0
          // Until its window is used up and the ring has gone past it.
          while ((yield* open) > others.length) {
            yield* state(org, counting(published + 1, 8, 20_000))
            published += 8
            assert.isAtMost(published, mostEvents, "the stalled stream is given up")
            for (const other of others) yield* other.until("every event", ({ events }) => events.length === published)
          }
          assert.isFalse(stalled.closed)
          stalled.stream.resume()
          yield* stalled.until("over", ({ closed }) => closed)
          const [overflow, ...received] = stalled.events.toReversed()
          assert.strictEqual(overflow?.event, "overflow.v1")
          assert.deepStrictEqual(numbers(received).toReversed(), oneTo(received.length))
          assert.strictEqual(received.length + JSON.parse(overflow?.data ?? "null").data.dropped, published)
          assert.isTrue(stalled.ended)

          yield* state(org, counting(published + 1, 1))
          for (const other of others) {
            yield* other.until("the next", ({ events }) => events.length === published + 1)
            assert.deepStrictEqual(numbers(other.events), oneTo(published + 1))
          }
        })
      )
    }
  )

const limits: EventLimits = { streams: 3, org_streams: 100, instance_streams: 100, opens: 10_000 }

for (const serving of servings)
  layer(api(serving, { limits }), { excludeTestServices: true })("the end of a stream over HTTP/2", (it) => {
    const codes = [
      ["CANCEL", constants.NGHTTP2_CANCEL],
      ["NO_ERROR", constants.NGHTTP2_NO_ERROR],
      ["INTERNAL_ERROR", constants.NGHTTP2_INTERNAL_ERROR]
    ] as const

    it.effect.each(codes)("a stream over HTTP/2 frees its slot when the client resets it: %s", ([name, code]) =>
      Effect.gen(function* () {
        const { client, token } = yield* visitor(`reset-${name.toLowerCase()}@example.com`)
        const streams = [yield* client.opened(token), yield* client.opened(token), yield* client.opened(token)]
        const fourth = client.request({ ":path": "/v1/events", authorization: `Bearer ${token}` })
        yield* fourth.until("refused", ({ ended }) => ended)
        assert.strictEqual(fourth.status, 429)
        streams[0]?.stream.close(code)
        yield* openAre(2)
        yield* client.opened(token)
        yield* openAre(3)
        client.session.destroy()
        yield* openAre(0)
      })
    )

    it.effect("a stream over HTTP/2 that is reset before it begins leaves nothing behind", () =>
      Effect.gen(function* () {
        const { client, token } = yield* visitor("rapid@example.com")
        for (let round = 0; round < 50; round++) {
          const requests = Array.from({ length: 3 }, () =>
            client.request({ ":path": "/v1/events", authorization: `Bearer ${token}` })
          )
          // In the middle of being authenticated, admitted, attached: each round a little later.
          for (let turn = 0; turn < round % 10; turn++) yield* Effect.promise(() => new Promise(setImmediate))
          for (const { stream } of requests) stream.close(constants.NGHTTP2_CANCEL)
          for (const request of requests) yield* request.until("gone", ({ closed }) => closed)
        }
        yield* openAre(0)
        // The places of the streams are free again.
        for (let at = 0; at < limits.streams; at++) yield* client.opened(token)
        client.session.destroy()
        yield* openAre(0)
      })
    )
  })

for (const serving of servings)
  describe("an instance that stops, over HTTP/2", () => {
    it.live("an instance that stops ends its HTTP/2 streams with a retry delay and closes the connection", () =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const built = yield* Layer.buildWithScope(
          streamApi({}, { createServer, serving, grace: Duration.hours(1) }),
          scope
        )
        yield* Effect.gen(function* () {
          const { port } = yield* TestApi
          const client = new Http2Client(port)
          yield* Effect.addFinalizer(() => Effect.sync(() => client.session.destroy()))
          const token = yield* client.signIn("ada@example.com")
          const plain = yield* client.opened(token)
          const relay = yield* client.opened(token, "/v1/events?bookmarks=1")
          const head = /^id: (\w+)$/m.exec(relay.text)?.[1]
          yield* Effect.promise(() => within("the instance to stop", Effect.runPromise(Scope.close(scope, Exit.void))))
          for (const stream of [plain, relay]) {
            yield* stream.until("over", ({ closed }) => closed)
            assert.isTrue(stream.ended)
            assert.strictEqual(stream.stream.rstCode, constants.NGHTTP2_NO_ERROR)
          }
          assert.match(plain.text, /^: ok\n: closing reason=draining\n$/)
          assert.match(relay.text, new RegExp(`id: ${head}\\n\\nretry: \\d+\\n\\n: closing reason=draining\\n$`))
          assert.isTrue(client.going)
        }).pipe(Effect.provideContext(built), Effect.scoped)
      })
    )
  })
