/**
 * Clients that read too slowly, never, or hang up in the middle: they cost little, lose with an exact count, and nobody
 * else notices. `NARTHEX_TEST_LONG=1` keeps it up for twelve seconds.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { assert, describe, it, layer } from "@effect/vitest"
import { EventBroker } from "@narthex/core"
import { Duration, Effect } from "effect"
import type { Answer, Command } from "./support/memoryServer.ts"
import { opened, RawStream, requestText } from "./support/RawStream.ts"
import { Reader } from "./support/Reader.ts"
import { counting, somebody, state, streamApi } from "./support/streamApi.ts"

const long = process.env["NARTHEX_TEST_LONG"] === "1"
const millis = long ? 12_000 : 5_000
/** Long enough for the heap to grow to its working size: V8 takes its time, and it would look like a leak. */
const warmUp = 12_000
const rate = 3_000
const healthyReaders = 20
const stalledReaders = 100
const slowReaders = 10
/** Bytes a second: a seventh of what comes. */
const slowly = 200_000
/** Connections a second that are reset once they have begun: as many as one principal may open. */
const resets = 50
const mebibyte = 1024 * 1024

const server = Effect.acquireRelease(
  Effect.promise(async () => {
    const child = fork(join(import.meta.dirname, "support/memoryServer.ts"), {
      execArgv: ["--conditions=source", "--expose-gc"]
    })
    const next = async (): Promise<Answer> => (await once(child, "message"))[0]
    const first = await next()
    if (!("up" in first)) throw new Error("The server did not say that it is up.")
    const ask = async (command: Command) => {
      const answer = next()
      child.send(command)
      return answer
    }
    const look = async () => {
      const answer = await ask({ look: true })
      return "seen" in answer ? answer.seen : assert.fail("It did not look.")
    }
    const publish = async (duration: number) => {
      const answer = await ask({ publish: { rate, millis: duration } })
      return "published" in answer ? answer.published : assert.fail("It did not publish.")
    }
    return { child, look, publish, ...first.up }
  }),
  ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
)

/** Opens streams and resets each when its first bytes are there, until told to stop. */
const quitting = (port: number, token: string) => {
  const begun = performance.now()
  let going = true
  let count = 0
  const loop = async () => {
    while (going) {
      if (((performance.now() - begun) * resets) / 1_000 > count) {
        count += 1
        const { socket } = new RawStream(port, requestText({ token }))
        void once(socket, "data").then(() => socket.resetAndDestroy())
      } else await setTimeout(5)
    }
    return { count, seconds: (performance.now() - begun) / 1_000 }
  }
  const over = loop()
  return () => {
    going = false
    return over
  }
}

const poll = (what: string, ready: () => boolean | Promise<boolean>) =>
  Effect.repeat(
    Effect.delay(
      Effect.promise(async () => ready()),
      20
    ),
    { until: (it) => it }
  ).pipe(Effect.timeoutOrElse({ duration: "40 seconds", orElse: () => Effect.die(new Error(`Never ${what}.`)) }))

describe("readers that stall, dawdle and hang up", () => {
  it.live(
    "cost little memory, lose with an exact count, and others get everything",
    () =>
      Effect.gen(function* () {
        const { look, port, publish, token } = yield* server
        const numbers = new Map<string, number>()
        const healthy = Array.from({ length: healthyReaders }, (_, at) =>
          new Reader(port, token, at === 0 ? numbers : undefined).keepUp()
        )
        yield* poll("healthy readers", async () => (await look()).streams === healthy.length)
        const stop = quitting(port, token)
        const warm = yield* Effect.promise(() => publish(warmUp))
        yield* poll("everything before", () => healthy.every(({ last }) => last === warm))

        const before = yield* Effect.promise(look)
        const stalled = Array.from({ length: stalledReaders }, () => {
          const reader = new Reader(port, token)
          reader.socket.pause()
          return reader
        })
        const slow = Array.from({ length: slowReaders }, () => new Reader(port, token))
        for (const reader of slow) void reader.dawdle(slowly)
        const all = healthy.length + stalled.length + slow.length
        yield* poll("all readers", async () => (await look()).streams >= all)
        const published = yield* Effect.promise(() => publish(millis))
        const after = yield* Effect.promise(look)
        const quit = yield* Effect.promise(stop)
        const last = warm + published
        yield* poll("everything", () => healthy.every((reader) => reader.last === last || reader.closed))

        // Now they read, and what they find is the truth about what they missed.
        for (const reader of [...stalled, ...slow]) reader.keepUp()
        yield* poll("told", () => [...stalled, ...slow].every((reader) => reader.closed || reader.last === last))
        const dropped = (reader: Reader) => (reader.overflow === undefined ? 0 : reader.overflow.dropped)
        const latest = (reader: Reader) =>
          reader.overflow === undefined ? last : numbers.get(reader.overflow.latest_id)
        const added = { rss: (after.rss - before.rss) / mebibyte, live: (after.live - before.live) / mebibyte }
        const overflows = [stalled, slow].map((readers) => readers.filter(({ overflow }) => overflow).length)
        console.log(JSON.stringify({ published, added, rss: after.rss / mebibyte, overflows, resets: quit.count }))

        assert.isAbove(published, ((rate * millis) / 1_000) * (long ? 0.9 : 0.5), "there was load")
        assert.isAbove(quit.count, quit.seconds * resets * 0.5, "there were resets")
        assert.isBelow(added.rss, 64, "memory is bounded")
        assert.isBelow(added.live, 32, "and little of it is in use")
        for (const reader of healthy)
          assert.deepInclude(reader, { first: 1, last, broken: undefined, overflow: undefined, closed: false })
        assert.isTrue(stalled.every(({ overflow }) => overflow !== undefined))
        for (const reader of [...stalled, ...slow]) {
          assert.deepInclude(reader, { first: warm + 1, broken: undefined })
          assert.strictEqual(reader.last + dropped(reader), latest(reader))
        }
        for (const { socket } of [...healthy, ...slow]) socket.destroy()
        yield* poll("gone", async () => (await look()).streams === 0)
      }).pipe(Effect.scoped),
    180_000
  )
})

layer(streamApi({ ringEvents: 32, linger: Duration.seconds(30) }), { excludeTestServices: true })(
  "a reader that was too slow",
  (it) => {
    it.effect("is told exactly how much it did not get, and its next connection says the same", () =>
      Effect.gen(function* () {
        const { org, token } = yield* somebody("slow@example.com")
        const { streams } = yield* EventBroker
        const reader = yield* opened({ token })
        const watch = yield* opened({ token })
        reader.socket.pause()
        let published = 0
        // Until the connection takes nothing more and the ring has gone past it.
        while (streams().length > 1) {
          yield* state(org, counting(published + 1, 8, 20_000))
          published += 8
          yield* watch.until("events", ({ body }) => body.length > published * 20_000)
        }
        reader.socket.resume()
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
        const latest = watch.events.findIndex(({ id }) => id === data.latest_id)
        assert.strictEqual(received.length + data.dropped, latest + 1)
        assert.isAbove(data.dropped, 0)
        assert.strictEqual(overflow.id, `${data.latest_id.slice(0, -1)}2`)

        const back = yield* opened({ token, headers: [`Last-Event-ID: ${overflow.id}`] })
        yield* state(org, counting(published + 1, 1))
        yield* back.until("the next", ({ events }) => events.length > 0)
        const next = watch.events[latest + 1]?.data ?? back.events[0]?.data
        assert.strictEqual(back.events[0]?.data, next)
        // Whoever never got the frame comes back with the last event that it has, and is told too.
        const lost = yield* opened({ token, headers: [`Last-Event-ID: ${rest[0]?.id}`] })
        yield* lost.until("a gap", ({ events }) => events.length > 0)
        assert.strictEqual(lost.events[0]?.event, "resume.gap.v1")
      })
    )
  }
)
