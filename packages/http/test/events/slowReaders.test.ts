/**
 * Clients that read too slowly, never, or hang up in the middle: they cost little, lose with an exact count, and nobody
 * else notices. `NARTHEX_TEST_LONG=1` keeps it up for twelve seconds.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { assert, describe, it, layer } from "@effect/vitest"
import { EventBroker } from "@narthex/core"
import { Duration, Effect } from "effect"
import { opened, RawStream, requestText } from "./support/RawStream.ts"
import type { Answer, Command } from "./support/memoryServer.ts"
import { counting, somebody, state, streamApi } from "./support/streamApi.ts"

const millis = process.env["NARTHEX_TEST_LONG"] === "1" ? 12_000 : 5_000
const rate = 3_000
const stalledReaders = 100
const healthyReaders = 8
const resetting = 20
const mebibyte = 1024 * 1024

const server = Effect.acquireRelease(
  Effect.promise(async () => {
    const child = fork(join(import.meta.dirname, "support/memoryServer.ts"), {
      // A young generation that does not grow by itself, which would look like a leak.
      execArgv: ["--conditions=source", "--expose-gc", "--min-semi-space-size=16", "--max-semi-space-size=16"]
    })
    const next = async (): Promise<Answer> => (await once(child, "message"))[0]
    const first = await next()
    if (!("up" in first)) throw new Error("The server did not say that it is up.")
    const ask = async (command: Command) => {
      const answer = next()
      child.send(command)
      return answer
    }
    return { child, ask, ...first.up }
  }),
  ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
)

/** Reads all, and keeps only what it needs. */
class Counter {
  events = 0
  #rest = ""
  readonly stream: RawStream

  constructor(port: number, token: string) {
    this.stream = new RawStream(port, requestText({ token }))
    this.stream.socket.removeAllListeners("data")
    this.stream.socket.setEncoding("latin1").on("data", (text: string) => {
      const all = this.#rest + text
      let at = 0
      for (let found = all.indexOf("\ndata: "); found !== -1; found = all.indexOf("\ndata: ", at)) {
        this.events += 1
        at = found + 7
      }
      this.#rest = all.slice(Math.max(at, all.length - 6))
    })
  }
}

const poll = (ready: () => boolean | Promise<boolean>) =>
  Effect.repeat(
    Effect.delay(
      Effect.promise(async () => ready()),
      20
    ),
    { until: (it) => it }
  ).pipe(Effect.timeout("30 seconds"))

describe("readers that stall", () => {
  it.live(
    "cost little memory, and others get everything",
    () =>
      Effect.gen(function* () {
        const { ask, port, token } = yield* server
        const publish = () => ask({ publish: { rate, millis } })
        const look = async () => {
          const answer = await ask({ look: true })
          return "seen" in answer ? answer.seen : assert.fail("It did not look.")
        }
        const healthy = Array.from({ length: healthyReaders }, () => new Counter(port, token))
        yield* poll(async () => (await look()).streams === healthyReaders)
        // What the load itself takes, before anybody stalls: the heap grows to its working size first.
        let before = yield* Effect.promise(look)
        let warm = 0
        for (let steady = 0; steady < 2; ) {
          const answer = yield* Effect.promise(() => ask({ publish: { rate, millis: 1_500 } }))
          if ("published" in answer) warm += answer.published
          const now = yield* Effect.promise(look)
          steady = now.rss - before.rss < 4 * mebibyte ? steady + 1 : 0
          before = now
        }
        yield* poll(() => healthy.every(({ events }) => events === warm))

        const stalled = Array.from({ length: stalledReaders }, () => {
          const stream = new RawStream(port, requestText({ token }))
          stream.socket.pause()
          return stream
        })
        yield* poll(async () => (await look()).streams === healthyReaders + stalledReaders)
        const answer = yield* Effect.promise(publish)
        const published = "published" in answer ? answer.published : 0
        const after = yield* Effect.promise(look)
        yield* poll(() => healthy.every(({ events }) => events >= warm + published))

        const added = (after.rss - before.rss) / mebibyte
        console.log(
          JSON.stringify({ published, added_mib: Math.round(added), rss_mib: Math.round(after.rss / mebibyte) })
        )
        assert.isAbove(published, (rate * millis) / 1_000 / 2, "there was load")
        assert.isBelow(added, 64, "memory is bounded")
        assert.deepStrictEqual(
          healthy.map(({ events }) => events - warm),
          healthy.map(() => published)
        )
        assert.isTrue(healthy.every(({ stream }) => !stream.closed))
        for (const { socket } of stalled) socket.destroy()
        for (const { stream } of healthy) stream.socket.destroy()
        yield* poll(async () => (await look()).streams === 0)

        // Clients that hang up in the middle leave nothing behind, and whoever stays notices nothing.
        const staying = new Counter(port, token)
        yield* poll(async () => (await look()).streams === 1)
        let going = true
        let resets = 0
        const quitters = Array.from({ length: resetting }, async () => {
          while (going) {
            const stream = new RawStream(port, requestText({ token }))
            await once(stream.socket, "data")
            stream.socket.resetAndDestroy()
            resets += 1
          }
        })
        const meanwhile = yield* Effect.promise(() => ask({ publish: { rate: 300, millis: 1_500 } }))
        going = false
        yield* Effect.promise(() => Promise.all(quitters))
        yield* poll(() => "published" in meanwhile && staying.events === meanwhile.published)
        yield* poll(async () => (await look()).streams === 1)
        assert.isAbove(resets, 50)
        staying.stream.socket.destroy()
      }).pipe(Effect.scoped),
    120_000
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
