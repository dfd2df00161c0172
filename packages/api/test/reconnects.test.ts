/** The times of a subscription, on a clock that the test moves. */
import { assert, describe, it } from "@effect/vitest"
import { nextDelay, type StreamItem } from "@narthex/api"
import { type Duration, Effect, Fiber, Queue, Stream } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { eventStream } from "../src/client/eventStream.ts"
import { retryAfterMillis } from "../src/client/retryAfter.ts"
import { frame } from "./sseServer.ts"

interface Connection {
  readonly send: (text: string) => void
  readonly end: () => void
  readonly lastEventId: string | undefined
}

/** A client whose connections the test holds in its hands. */
const scripted = Effect.gen(function* () {
  const connections = yield* Queue.unbounded<Connection>()
  const answers: Array<Response> = []
  const client = HttpClient.make((request) =>
    Effect.sync(() => {
      const refusal = answers.shift()
      if (refusal !== undefined) return HttpClientResponse.fromWeb(request, refusal)
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
      const writer = writable.getWriter()
      const gone = () => {} // the subscription may have left already
      Queue.offerUnsafe(connections, {
        send: (text) => void writer.write(new TextEncoder().encode(text)).catch(gone),
        end: () => void writer.close().catch(gone),
        lastEventId: request.headers["last-event-id"]
      })
      return HttpClientResponse.fromWeb(
        request,
        new Response(readable, { headers: { "content-type": "text/event-stream" } })
      )
    })
  ).pipe(HttpClient.mapRequest(HttpClientRequest.prependUrl("http://narthex.invalid")))
  const items = yield* Queue.unbounded<StreamItem>()
  yield* eventStream(client, { path: "/v1/events" }).pipe(
    Stream.runForEach((item) => Queue.offer(items, item)),
    Effect.forkScoped
  )
  const next = Queue.take(items)
  const reconnecting = Effect.map(next, (item) => {
    assert.strictEqual(item._tag, "Reconnecting")
    return item._tag === "Reconnecting" ? item : { why: "", delay: Number.NaN }
  })
  return { answers, connection: Queue.take(connections), items, next, reconnecting }
})

/** Everything that can run without time passing has run: streams and fibers take turns of the event loop. */
const settled = Effect.promise(
  () => new Promise<void>((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))))
)

/** Lets time pass for a subscription that has come to rest. */
const pass = (duration: Duration.Input) => Effect.andThen(settled, TestClock.adjust(duration))

describe("a subscription in time", () => {
  it.effect("a subscription takes 2.5 heartbeats of silence for a dead connection", () =>
    Effect.gen(function* () {
      const { connection, next, reconnecting } = yield* scripted
      yield* connection
      assert.strictEqual((yield* next)._tag, "Connected")
      yield* pass("37 seconds")
      const lost = yield* Effect.forkChild(reconnecting)
      yield* pass("500 millis")
      assert.strictEqual((yield* Fiber.join(lost)).why, "silence")
    })
  )

  it.effect("a subscription counts any byte as a heartbeat", () =>
    Effect.gen(function* () {
      const { connection, items, next } = yield* scripted
      const { send } = yield* connection
      yield* next
      for (let beat = 1; beat <= 5; beat++) {
        yield* pass("30 seconds")
        // The event proves that what was sent has been read.
        send(`:\n${frame(beat)}`)
        assert.strictEqual((yield* next)._tag, "Event")
      }
      assert.strictEqual(yield* Queue.size(items), 0)
    })
  )

  it.effect("a subscription waits at least the time in Retry-After", () =>
    Effect.gen(function* () {
      const { answers, connection, next, reconnecting } = yield* scripted
      const first = yield* connection
      yield* next
      answers.push(new Response("", { status: 429, headers: { "retry-after": "20" } }))
      first.end()
      const once = yield* Effect.forkChild(Effect.andThen(reconnecting, reconnecting))
      yield* pass("1 second")
      const { delay, why } = yield* Fiber.join(once)
      assert.strictEqual(why, "status 429")
      assert.isAtLeast(delay, 20_000)
      assert.isAtMost(delay, 21_000)
    })
  )

  it.effect("a subscription backs off without progress, and an event resets the back-off", () =>
    Effect.gen(function* () {
      const { connection, next, reconnecting } = yield* scripted
      const delays: Array<number> = []
      for (let attempt = 0; attempt < 8; attempt++) {
        const { end } = yield* connection
        yield* next
        end()
        const { delay } = yield* reconnecting
        delays.push(delay)
        yield* pass(delay)
      }
      delays.forEach((delay, attempt) => {
        const ceiling = Math.min(30_000, 500 * 2 ** attempt)
        assert.isAtLeast(delay, ceiling / 2)
        assert.isAtMost(delay, ceiling)
      })
      const { end, send } = yield* connection
      yield* next
      send(frame(1))
      yield* next
      end()
      assert.isAtMost((yield* reconnecting).delay, 500)
    })
  )

  it.effect("a subscription uses the server's retry as its delay and resumes at its position", () =>
    Effect.gen(function* () {
      const { connection, next, reconnecting } = yield* scripted
      const first = yield* connection
      yield* next
      first.send(`retry: 4000\n\n${frame(3)}`)
      yield* next
      first.end()
      const { delay } = yield* reconnecting
      assert.isAtLeast(delay, 2000)
      assert.isAtMost(delay, 4000)
      yield* pass(delay)
      assert.strictEqual((yield* connection).lastEventId, "01K3Z6V9E8Q0X5M4C2B7000003")
    })
  )

  it.effect("a subscription to an invalid URL is refused", () =>
    Effect.gen(function* () {
      const nowhere = HttpClient.make(() => Effect.never)
      const refusal = yield* Effect.flip(Stream.runDrain(eventStream(nowhere, { path: "/v1/events" })))
      assert.strictEqual(refusal.code, "invalid_url")
    })
  )

  it("back-off has jitter and is never shorter than Retry-After", () => {
    const wait = (random: number, retryAfter?: number) =>
      nextDelay({ attempt: 2, retry: undefined, retryAfter, random })
    assert.deepStrictEqual([wait(0), wait(1), wait(0, 60_000)], [1000, 2000, 61_000])
    assert.strictEqual(nextDelay({ attempt: 50, retry: undefined, retryAfter: undefined, random: 1 }), 30_000)
  })

  it("Retry-After is read as seconds or as a date", () => {
    const now = Date.UTC(2026, 10, 20)
    assert.strictEqual(retryAfterMillis("7", now), 7000)
    assert.strictEqual(retryAfterMillis("Fri, 20 Nov 2026 00:00:09 GMT", now), 9000)
    assert.strictEqual(retryAfterMillis("Fri, 20 Nov 2020 00:00:09 GMT", now), 0)
    assert.isUndefined(retryAfterMillis("soon", now))
    assert.isUndefined(retryAfterMillis(undefined, now))
  })
})
