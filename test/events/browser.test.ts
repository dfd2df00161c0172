/**
 * A browser's EventSource reads streams that arrive in two parts, and streams that are severed, after which it
 * reconnects with its last id and misses nothing. The long form tries every byte; the short form those that `places`
 * chooses.
 */
import { assert, layer } from "@effect/vitest"
import { EventLog, type OrgId } from "@narthex/core"
import { Duration, Effect } from "effect"
import { places } from "../../packages/http/test/events/support/places.ts"
import { RawStream, requestText } from "../../packages/http/test/events/support/RawStream.ts"
import { counting, signedIn, state, streamApi } from "../../packages/http/test/events/support/streamApi.ts"
import { TestApi } from "../../packages/http/test/support/wire.ts"
import { newContext, sharedBrowser } from "../harness/browser.ts"
import { within } from "../harness/eventually.ts"
import { times } from "../harness/long.ts"
import { note } from "../harness/note.ts"
import { eventsIn, SplittingFront } from "./support/SplittingFront.ts"

/** Type, last event id, data. */
type Seen = readonly [type: string, id: string, data: string]

const types = ["operation.updated.v1", "other.done.v1", "resume.gap.v1", "overflow.v1", "error.v1", "message"]

/** `readAll` returns the distinct outcomes of many streams, each with its count. */
const page = `<!doctype html><title>streams</title><script>
const open = new Map()
const read = (path, count) => new Promise((done) => {
  const seen = []
  open.set(path, seen)
  const source = new EventSource(path)
  const over = (outcome) => { source.close(); open.delete(path); done(outcome) }
  for (const type of ${JSON.stringify(types)})
    source.addEventListener(type, ({ data, lastEventId }) => {
      seen.push([type, lastEventId, data])
      took(path, seen.length)
      if (seen.length === count) over(JSON.stringify(seen))
    })
  source.onerror = () => { if (source.readyState === EventSource.CLOSED) over(path + " was given up") }
})
const readAll = async (paths, count, concurrency) => {
  const outcomes = new Map()
  const worker = async () => {
    for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
      const outcome = await read(path, count)
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return [...outcomes]
}
</script>`

const text = "line one\nline two\r\n\ndata: three\n żółć 🐘 \u2028"

/** One event, two in one commit of which one cannot be sent, and one more; their data has many lines and characters. */
const several = (org: OrgId) =>
  Effect.gen(function* () {
    yield* state(org, counting(1, 1))
    yield* state(org, [{ type: "other.done.v1", data: { text } }, { type: "Not a type" }])
    yield* state(org, counting(4, 1))
  })

const large = (org: OrgId) =>
  Effect.forEach([1, 2, 3], (n) => state(org, counting(n, 1, 64 * 1024 - 400)), { discard: true })

/** A browser, a front and the API, and what the API sends from just before these events. */
const scene = <R>(emit: (org: OrgId) => Effect.Effect<void, unknown, R>, count: number, query = "") =>
  Effect.gen(function* () {
    const { port } = yield* TestApi
    const { org, token } = yield* signedIn(`${emit.name}${query.length}@example.com`)
    yield* state(org, counting(0, 1))
    const from = yield* Effect.flatMap(EventLog, ({ headOf }) => headOf(org))
    yield* emit(org)
    const direct = yield* Effect.acquireRelease(
      Effect.sync(
        () =>
          new RawStream(port, requestText({ token, path: `/v1/events${query}`, headers: [`Last-Event-ID: ${from}`] }))
      ),
      ({ socket }) => Effect.sync(() => socket.destroy())
    )
    yield* direct.until("all events", ({ events }) => events.length === count)
    const sent = direct.events.map(({ data, event, id }): Seen => [event ?? "", id ?? "", data ?? ""])

    const front = yield* Effect.acquireRelease(
      Effect.promise(() => SplittingFront.start({ api: port, token, page, from })),
      (it) => Effect.sync(() => it.stop())
    )
    const browser = yield* Effect.acquireRelease(Effect.promise(sharedBrowser), (it) =>
      Effect.promise(() => it.close())
    )
    const context = yield* Effect.acquireRelease(
      Effect.promise(() => newContext(browser)),
      (it) => Effect.promise(() => it.close())
    )
    yield* Effect.promise(() =>
      context.exposeFunction("took", (target: string, events: number) => front.took(target.split("?")[0] ?? "", events))
    )
    const tab = yield* Effect.promise(() => context.newPage())
    yield* Effect.promise(() => tab.goto(`http://127.0.0.1:${front.port}/`))
    const readAll = (ways: ReadonlyArray<string>, concurrency: number) => {
      const paths = ways.map((way) => `/${way}${query}`)
      const read: Promise<unknown> = tab.evaluate(`readAll(${JSON.stringify(paths)}, ${count}, ${concurrency})`)
      const open = () => tab.evaluate("JSON.stringify([...open].map(([path, seen]) => [path, seen.length]))")
      return Effect.promise(() =>
        within(`a browser to read ${paths.length} streams`, read, times(100_000, 300_000)).catch(async (error) => {
          throw new Error(`${error.message} Open, each with the events that it has: ${await open()}`)
        })
      )
    }
    return { from, front, readAll, bytes: direct.bytes, sent, outcome: JSON.stringify(sent) }
  })

/**
 * The places where a browser reconnected with another id than that of its last whole event. Without an event it has the
 * bookmark's id, or none if the bookmark was lost too.
 */
const misplaced = (
  { resumed }: SplittingFront,
  bytes: Buffer,
  sent: ReadonlyArray<Seen>,
  severs: ReadonlyArray<number>
): ReadonlyArray<number> =>
  severs.filter((end) => {
    const whole = eventsIn(bytes.subarray(0, end))
    return whole > 0 && resumed.get(`/sever/${end}`) !== sent[whole - 1]?.[1]
  })

const ways = (way: string, ns: ReadonlyArray<number>) => ns.map((n) => `${way}/${n}`)

/** The number of connections that a browser opens to one origin. */
const connections = 6
const limit = times(400_000, 900_000)

layer(streamApi({ heartbeat: Duration.hours(1) }), { excludeTestServices: true })("a browser's EventSource", (it) => {
  it.effect(
    "a browser's EventSource reads every event of a stream that arrives in two parts",
    () =>
      Effect.gen(function* () {
        const { bytes, outcome, readAll, sent } = yield* scene(several, 4)
        assert.deepStrictEqual(
          sent.map(([type]) => type),
          ["operation.updated.v1", "other.done.v1", "error.v1", "operation.updated.v1"]
        )
        assert.strictEqual(JSON.parse(sent[1]?.[2] ?? "null").data.text, text)
        const cuts = ways("cut", places(bytes, 1, bytes.length - 1, 100))
        assert.deepStrictEqual(yield* readAll(cuts, connections), [[outcome, cuts.length]])
        assert.deepStrictEqual(yield* readAll(["bytes/1"], 1), [[outcome, 1]])
      }),
    { tags: ["chromium"], timeout: limit }
  )

  it.effect(
    "a browser's EventSource reconnects with its last id wherever a stream is severed, and misses nothing",
    () =>
      Effect.gen(function* () {
        const { bytes, from, front, outcome, readAll, sent } = yield* scene(several, 4, "?bookmarks=1")
        // From the first place where it has a position to the last byte before it has everything.
        const bookmark = bytes.indexOf("\n\n", bytes.indexOf("\nid: ")) + 2
        const last = bytes.lastIndexOf("\n\n") + 1
        // Places on both sides of the end of each block, and others.
        const ends: Array<number> = []
        for (let end = bookmark; end > 1 && end <= last; end = bytes.indexOf("\n\n", end) + 2) ends.push(end - 1, end)
        const severs = [...new Set([...ends.slice(1), ...places(bytes, bookmark, last, 60)])]
        assert.deepStrictEqual(yield* readAll(ways("sever", severs), connections), [[outcome, severs.length]])
        assert.deepStrictEqual(misplaced(front, bytes, sent, severs), [])
        const whole = (end: number) => eventsIn(bytes.subarray(0, end))
        assert.lengthOf(new Set(severs.map(whole)), sent.length)
        const early = severs.filter((end) => whole(end) === 0)
        const lost = early.filter((end) => front.resumed.get(`/sever/${end}`) === null)
        note(
          `browser: of ${early.length} streams severed before their first event, ${lost.length} lost the bookmark too`
        )

        // Waits longer each time, until the browser has taken the bookmark once.
        for (let pause = 4; ; pause *= 2) {
          const path = `sever/${bookmark + 1}/${pause}`
          assert.deepStrictEqual(yield* readAll([path], 1), [[outcome, 1]])
          const resumed = front.resumed.get(`/${path}`)
          if (resumed === from) break
          assert.isNull(resumed)
          assert.isBelow(pause, 64_000, "the browser never came back with the bookmark")
        }
      }),
    { tags: ["chromium"], timeout: limit }
  )

  it.effect(
    "a browser's EventSource reads events of 64 KiB in pieces of any size, and reconnects in the middle of one",
    () =>
      Effect.gen(function* () {
        const { bytes, front, outcome, readAll, sent } = yield* scene(large, 3, "?bookmarks=1")
        const pieces = ways(
          "pieces",
          Array.from({ length: times(6, 30) }, (_, at) => at)
        )
        assert.deepStrictEqual(yield* readAll(pieces, connections), [[outcome, pieces.length]])
        const count = times(10, 40)
        const ends = Array.from({ length: count - 2 }, (_, at) => (at + 1) * Math.floor(bytes.length / count))
        assert.deepStrictEqual(yield* readAll(ways("sever", ends), connections), [[outcome, ends.length]])
        assert.strictEqual(front.resumed.size, ends.length)
        assert.deepStrictEqual(misplaced(front, bytes, sent, ends), [])
      }),
    { tags: ["chromium"], timeout: limit }
  )
})
