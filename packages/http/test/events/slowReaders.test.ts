/**
 * Clients that read too slowly, never, or hang up in the middle: the server holds little for them, they lose with an
 * exact count, and other clients notice nothing.
 * Holds docs/design/events.md E5.
 */
import { createServer as createHttpServer, type Server } from "node:http"
import type { Socket } from "node:net"
import { getDefaultHighWaterMark } from "node:stream"
import { assert, describe, it, layer } from "@effect/vitest"
import { defaultEventSettings, EventBroker } from "@narthex/core"
import { Duration, Effect } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { times } from "../../../../test/harness/long.ts"
import { note } from "../../../../test/harness/note.ts"
import { everyServing } from "../support/apiOver.ts"
import { TestApi } from "../support/wire.ts"
import { opened } from "./support/FetchStream.ts"
import { RawStream, requestText } from "./support/RawStream.ts"
import { makeReader } from "./support/Reader.ts"
import { counting, signedIn, state, streamApi } from "./support/streamApi.ts"

const healthyReaders = times(5, 20)
const stalledReaders = times(10, 100)
const slowReaders = times(3, 10)
/** Connections that are reset once they have begun. */
const resets = times(40, 600)
/** At least so many, because they must also fill the kernel's buffers of readers that do not read. */
const events = times(0, 36_000)
/** In the short form few and large ones, which fill the kernel's buffers sooner. */
const size = times(20_000, 200)
const ring_events = times(32, 1_024)
const batch = ring_events / 4
/** Far more than the sockets and the ring hold. */
const mostEvents = 10_000

/** A write begins while the queue is below its high-water mark, and is one slice, its framing, or a last frame. */
const mostAbove = defaultEventSettings.slice_bytes + 4_096
/** The most bytes that a socket holds, and the body of a `Response` (docs/design/library.md N13). */
const mostHeld = getDefaultHighWaterMark(false) + mostAbove
const mostOfBody = 64 * 1024 + mostAbove

/** Twice what its events take: the ring gives up memory in pieces of several events. */
const mostRing = 2 * ring_events * (size + 2_048)

/** The server's side of every connection. */
const watched = () => {
  const sockets = new Set<Socket>()
  const make = (): Server =>
    createHttpServer().on("connection", (socket) => {
      sockets.add(socket)
      socket.once("close", () => sockets.delete(socket))
    })
  return { sockets, make }
}

/** Opens a stream and resets it when its first bytes are there. Answers the status once it is gone. */
const quitSocket = (port: number, token: string) =>
  new Promise<number>((done) => {
    const { socket } = new RawStream(port, requestText({ token }))
    let first = ""
    socket.once("data", (chunk) => {
      first = String(chunk)
      socket.resetAndDestroy()
    })
    socket.once("close", () => done(Number(first.split(" ")[1])))
  })

/** The same for a body that is cancelled. */
const quitBody = async (fetch: (request: Request) => Promise<Response>, token: string) => {
  const response = await fetch(
    new Request("http://api.test/v1/events", { headers: { authorization: `Bearer ${token}` } })
  )
  const reader = response.body?.getReader()
  await reader?.read()
  await reader?.cancel()
  return response.status
}

for (const serving of everyServing)
  describe("readers that stall, dawdle and hang up", () => {
    const { make: createServer, sockets } = watched()
    const held = () => Array.from(sockets, ({ writableLength }) => writableLength)

    it.live(
      "a reader that stalls takes bounded memory, gets an exact count of its losses, and delays no other reader",
      () =>
        Effect.gen(function* () {
          const { fetch, port } = yield* TestApi
          const make = yield* makeReader
          const { org, token } = yield* signedIn("ada@example.com")
          const broker = yield* EventBroker
          const numbers = new Map<string, number>()
          const readers = (count: number) => Array.from({ length: count }, () => make(token))
          const quit = () => (fetch === undefined ? quitSocket(port, token) : quitBody(fetch, token))
          const healthy = [make(token, numbers), ...readers(healthyReaders - 1)]
          for (const reader of healthy) reader.keepUp()
          const streamsAre = (what: string, count: number) =>
            eventually(
              what,
              Effect.sync(() => broker.streams.size === count)
            )
          yield* streamsAre("healthy readers", healthy.length)

          let published = 0
          /** Commits, and waits for the readers that keep up, so that only the stalled and slow readers fall behind. */
          const publish = Effect.gen(function* () {
            yield* state(org, counting(published + 1, batch, size))
            published += batch
            yield* eventually(
              `readers that keep up with ${published} events`,
              Effect.sync(() => healthy.every(({ closed, last }) => closed || last >= published))
            )
          })
          yield* publish
          const before = published

          const stalled = readers(stalledReaders).map((reader) => reader.stall())
          const slow = readers(slowReaders).map((reader) => reader.dawdle())
          yield* streamsAre("all readers", healthy.length + stalled.length + slow.length)
          const quitters: Array<Promise<number>> = []
          let most = 0
          let ring = 0
          const loaded = () => published >= events && quitters.length >= resets && broker.streams.size <= healthy.length
          for (let step = 0; !loaded() && step < 20_000; step++) {
            if (quitters.length < resets) quitters.push(quit(), quit())
            yield* publish
            // A seventh of what comes.
            for (const reader of slow) reader.take((batch * size) / 7)
            most = Math.max(most, ...held(), 0)
            ring = Math.max(ring, broker.ring(org)?.memory ?? 0)
          }
          const begun = yield* Effect.promise(() => Promise.all(quitters))
          yield* streamsAre("the end of all that did not keep up", healthy.length)
          const total = held().reduce((sum, bytes) => sum + bytes, 0)

          // Now they read, and what they find is the truth about what they missed.
          for (const reader of [...stalled, ...slow]) reader.keepUp()
          yield* eventually(
            "the last bytes of all that were dropped",
            Effect.sync(() => [...stalled, ...slow].every(({ closed }) => closed))
          )
          // Without a socket, what a reader finds that had read nothing is what the body held.
          const inBodies = fetch === undefined ? [0] : stalled.map(({ received }) => received)
          const bytes = Math.max(most, ...inBodies)
          note(
            `slow readers, ${serving}: ${published} events, ${begun.length} resets, at most ${bytes} bytes held for one`
          )

          assert.deepStrictEqual([...new Set(begun)], [200])
          assert.isAtMost(most, mostHeld)
          assert.isAtMost(Math.max(...inBodies), mostOfBody)
          assert.isAtMost(total, (stalled.length + slow.length) * mostHeld)
          assert.isAtMost(ring, mostRing)
          for (const reader of healthy)
            assert.deepInclude(reader, {
              first: 1,
              last: published,
              broken: undefined,
              overflow: undefined,
              closed: false
            })
          for (const reader of [...stalled, ...slow]) {
            assert.deepInclude(reader, { first: before + 1, broken: undefined })
            if (reader.overflow === undefined) return assert.fail(`It ended at ${reader.last}, without an overflow.`)
            assert.strictEqual(reader.last + reader.overflow.dropped, numbers.get(reader.overflow.latest_id))
          }
          for (const reader of healthy) reader.leave()
          yield* streamsAre("the end of all", 0)
          yield* eventually(
            "nothing on the server's side",
            Effect.sync(() => sockets.size === 0)
          )
        }).pipe(
          Effect.scoped,
          Effect.provide(streamApi({ ring_events, linger: Duration.hours(1) }, { serving, createServer }))
        ),
      times(120_000, 900_000)
    )
  })

for (const serving of everyServing)
  layer(streamApi({ ring_events: 32, linger: Duration.hours(1) }, { serving }), { excludeTestServices: true })(
    "a reader that was too slow",
    (it) => {
      it.effect("a slow reader learns exactly how much it missed, and its next connection confirms it", () =>
        Effect.gen(function* () {
          const { org, token } = yield* signedIn("slow@example.com")
          const { streams } = yield* EventBroker
          const reader = yield* opened({ token })
          const make = yield* makeReader
          const numbers = new Map<string, number>()
          const watch = yield* Effect.acquireRelease(
            Effect.sync(() => make(token, numbers).keepUp()),
            (it) => Effect.sync(() => it.leave())
          )
          yield* eventually(
            "both streams",
            Effect.sync(() => streams.size === 2)
          )
          reader.pause()
          let published = 0
          // Until the connection takes nothing more and the ring has gone past it.
          while (streams.size > 1) {
            yield* state(org, counting(published + 1, 8, 20_000))
            published += 8
            assert.isAtMost(published, mostEvents, "the stalled stream is given up")
            yield* eventually(
              `the other reader to have ${published} events`,
              Effect.sync(() => watch.last >= published)
            )
          }
          reader.resume()
          yield* reader.until("over", ({ closed }) => closed)
          const [overflow, ...rest] = reader.events.toReversed()
          const { data } = JSON.parse(overflow?.data ?? "null")
          if (overflow?.event !== "overflow.v1") return assert.fail(`It ended with ${overflow?.event}.`)
          const received = rest.toReversed().map((event) => JSON.parse(event.data ?? "null").data.n)
          assert.deepStrictEqual(
            received,
            Array.from({ length: received.length }, (_, at) => at + 1),
            "all up to where it stopped"
          )
          const latest = numbers.get(data.latest_id) ?? Number.NaN
          assert.strictEqual(received.length + data.dropped, latest)
          assert.isAbove(data.dropped, 0)
          assert.strictEqual(overflow.id, `${data.latest_id.slice(0, -1)}2`)

          const back = yield* opened({ token, headers: [`Last-Event-ID: ${overflow.id}`] })
          yield* state(org, counting(published + 1, 1))
          yield* back.until("the next", ({ events }) => events.length > 0)
          assert.strictEqual(JSON.parse(back.events[0]?.data ?? "null").data.n, latest + 1)
          // A client that never got the frame comes back with the last event that it has, and is sent the gap.
          const lost = yield* opened({ token, headers: [`Last-Event-ID: ${rest[0]?.id}`] })
          yield* lost.until("a gap", ({ events }) => events.length > 0)
          assert.strictEqual(lost.events[0]?.event, "resume.gap.v1")
        })
      )
    }
  )
