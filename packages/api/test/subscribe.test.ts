import { assert, describe, it } from "@effect/vitest"
import { NarthexClient, type StreamItem, type StreamPath, type SubscriptionOptions } from "@narthex/api"
import { Effect, Redacted, Stream } from "effect"
import { bookmark, drops, ends, frame, idOf, refuses, type SseServer, sseServer, stays } from "./sseServer.ts"

const path: StreamPath = "/v1/events"
const credential = Redacted.make("nsk_test")

const follow = (server: SseServer, options: Partial<SubscriptionOptions> = {}) =>
  Stream.unwrap(Effect.map(NarthexClient, (client) => client.subscribe({ path, ...options }))).pipe(
    Stream.provide(NarthexClient.layerFetch({ baseUrl: server.baseUrl, credential }))
  )

/** An item in words, with the member that tells it from others of its kind. */
const word = (item: StreamItem): string => {
  switch (item._tag) {
    case "Event":
      return `event ${String(item.envelope.data["n"])}`
    case "Connected":
      return `connected ${item.lastEventId ?? "-"}`
    case "Reconnecting":
      return "reconnecting"
    case "Bookmark":
      return `bookmark ${item.lastEventId}`
    case "Gap":
      return `gap ${item.reason}`
    case "Overflow":
      return `overflow ${item.dropped}`
    default:
      return item._tag
  }
}

const wordsUntil = (server: SseServer, last: string, options?: Partial<SubscriptionOptions>) =>
  follow(server, options).pipe(
    Stream.map(word),
    Stream.takeUntil((it) => it === last),
    Stream.runCollect
  )

describe("a subscription", () => {
  it.live("a subscription sends its options, and the credential in the header only", () =>
    Effect.gen(function* () {
      const server = yield* sseServer(stays(frame(1)))
      yield* wordsUntil(server, "event 1", { lastEventId: idOf(0), types: ["a.v1", "b.v1"] })
      const [request] = server.requests
      assert.strictEqual(request?.url, "/v1/events?types=a.v1%2Cb.v1&bookmarks=1")
      assert.strictEqual(request?.headers.authorization, "Bearer nsk_test")
      assert.strictEqual(request?.headers.accept, "text/event-stream")
      assert.strictEqual(request?.headers["last-event-id"], idOf(0))
    })
  )

  it.live("a subscription resumes after the last event when the connection drops within the next", () =>
    Effect.gen(function* () {
      const server = yield* sseServer(drops("retry: 1\n\n", frame(1), frame(2)), stays(frame(3)))
      assert.deepStrictEqual(yield* wordsUntil(server, "event 3"), [
        "connected -",
        "event 1",
        "event 2",
        "reconnecting",
        `connected ${idOf(2)}`,
        "event 3"
      ])
      assert.strictEqual(server.requests[1]?.headers["last-event-id"], idOf(2))
    })
  )

  it.live("a subscription keeps its position on a stream without events by bookmarks", () =>
    Effect.gen(function* () {
      const server = yield* sseServer(ends("retry: 1\n\n", bookmark(5), bookmark(5)), stays(frame(6)))
      assert.deepStrictEqual(yield* wordsUntil(server, "event 6"), [
        "connected -",
        `bookmark ${idOf(5)}`,
        "reconnecting",
        `connected ${idOf(5)}`,
        "event 6"
      ])
    })
  )

  it.live("a subscription requests no bookmarks when they are turned off", () =>
    Effect.gen(function* () {
      const server = yield* sseServer(stays(frame(1)))
      yield* wordsUntil(server, "event 1", { bookmarks: false })
      assert.strictEqual(server.requests[0]?.url, "/v1/events")
    })
  )

  it.live("a subscription emits gaps, overflows and producers' errors as items and continues", () =>
    Effect.gen(function* () {
      const server = yield* sseServer(
        ends(
          "retry: 1\n\n",
          frame(1, "resume.gap.v1", { reason: "evicted" }),
          frame(2, "error.v1", { code: "too_large", message: "m" }),
          frame(3, "overflow.v1", { dropped: 12, latest_id: idOf(3) })
        ),
        stays(frame(4))
      )
      assert.deepStrictEqual(yield* wordsUntil(server, "event 4"), [
        "connected -",
        "gap evicted",
        "ProducerError",
        "overflow 12",
        "reconnecting",
        `connected ${idOf(3)}`,
        "event 4"
      ])
    })
  )

  it.live(
    "a subscription emits unknown types, ignores unknown members and survives frames that are not envelopes",
    () =>
      Effect.gen(function* () {
        const odd = frame(1, "weather.changed.v7", { n: "sun" }).replace('"region_id"', '"planet":"x","region_id"')
        const server = yield* sseServer(stays(odd, "id: x\ndata: {}\n\n", frame(2)))
        assert.deepStrictEqual(yield* wordsUntil(server, "event 2"), [
          "connected -",
          "event sun",
          "Unreadable",
          "event 2"
        ])
      })
  )

  it.live("a subscription emits the decoded envelope and the JSON as sent", () =>
    Effect.gen(function* () {
      const types = ["operation.updated.v1", "resume.gap.v1", "overflow.v1", "error.v1"]
      const newer = types.map((type, n) => frame(n, type).replace('"region_id"', '"planet":{"name":"x"},"region_id"'))
      const server = yield* sseServer(stays(...newer, frame(9)))
      const items = yield* follow(server).pipe(
        Stream.takeUntil((item) => item._tag === "Event" && item.envelope.id === idOf(9)),
        Stream.runCollect
      )
      assert.deepStrictEqual(
        items.flatMap((item) => ("sent" in item ? [item.sent] : [])),
        [...newer, frame(9)].map((text) => JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? ""))
      )
    })
  )

  it.live("a subscription says why the server ended the stream", () =>
    Effect.gen(function* () {
      const server = yield* sseServer(ends("retry: 1\n\n", ": closing reason=max_age\n"), stays(frame(1)))
      const items = yield* follow(server).pipe(
        Stream.takeUntil((item) => item._tag === "Reconnecting"),
        Stream.runCollect
      )
      const last = items.at(-1)
      assert.strictEqual(last?._tag === "Reconnecting" && last.why, "max_age")
    })
  )

  for (const [status, code] of [
    [401, "token_expired"],
    [403, "scope_insufficient"],
    [404, "not_found"],
    [406, "not_acceptable"]
  ] as const) {
    it.live(`a subscription stops at ${status} with ${code}`, () =>
      Effect.gen(function* () {
        const server = yield* sseServer(refuses(status, code))
        const refusal = yield* Effect.flip(Stream.runDrain(follow(server)))
        assert.deepStrictEqual([refusal.status, refusal.code, refusal.detail], [status, code, `${code}!`])
        assert.strictEqual(server.requests.length, 1)
      })
    )
  }

  it.live("a subscription stops when the answer is not an event stream", () =>
    Effect.gen(function* () {
      const server = yield* sseServer((response) => {
        response.end("<html>sign in to the hotel")
      })
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(follow(server)))).code, "not_an_event_stream")
    })
  )

  it.live("a subscription retries after 503", () =>
    Effect.gen(function* () {
      const server = yield* sseServer(refuses(503, "unavailable", { "retry-after": "0" }), stays(frame(1)))
      assert.deepStrictEqual(yield* wordsUntil(server, "event 1"), ["reconnecting", "connected -", "event 1"])
    })
  )

  it.live("a subscription closes its connection when the consumer stops", () =>
    Effect.gen(function* () {
      const closed = Promise.withResolvers<void>()
      const server = yield* sseServer((response, request) => {
        request.socket.on("close", () => closed.resolve())
        stays(frame(1))(response, request)
      })
      yield* wordsUntil(server, "event 1")
      yield* Effect.promise(() => closed.promise)
    })
  )
})
