/**
 * A browser's own EventSource reads our streams: cut at every byte, and severed at every byte, after which it comes back
 * with the last id that it has and misses nothing.
 */
import { assert, layer } from "@effect/vitest"
import { EventLog, type OrgId } from "@narthex/core"
import { Duration, Effect } from "effect"
import { RawStream, requestText } from "../../packages/http/test/events/support/RawStream.ts"
import { counting, somebody, state, streamApi } from "../../packages/http/test/events/support/streamApi.ts"
import { TestApi } from "../../packages/http/test/support/wire.ts"
import { browserTests, launch } from "../support/Chromium.ts"
import { SplittingFront } from "./support/SplittingFront.ts"

/** Type, last event id, data. */
type Seen = readonly [type: string, id: string, data: string]

const types = ["operation.updated.v1", "other.done.v1", "resume.gap.v1", "overflow.v1", "error.v1", "message"]

/** `readAll` answers the distinct outcomes of many streams, each with how many had it. */
const page = `<!doctype html><title>streams</title><script>
const read = (path, count) => new Promise((done) => {
  const seen = []
  const source = new EventSource(path)
  const over = (outcome) => { source.close(); done(outcome) }
  for (const type of ${JSON.stringify(types)})
    source.addEventListener(type, ({ data, lastEventId }) => {
      seen.push([type, lastEventId, data])
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

/** An event, two in one commit of which one could not be sent, and an event: of several lines and all sorts of characters. */
const several = (org: OrgId) =>
  Effect.gen(function* () {
    yield* state(org, counting(1, 1))
    yield* state(org, [{ type: "other.done.v1", data: { text } }, { type: "Not a type" }])
    yield* state(org, counting(4, 1))
  })

const large = (org: OrgId) =>
  Effect.forEach([1, 2, 3], (n) => state(org, counting(n, 1, 64 * 1024 - 400)), { discard: true })

/** A browser before a front before the API, and what the API sends from before these events. */
const scene = <R>(emit: (org: OrgId) => Effect.Effect<void, unknown, R>, count: number, query = "") =>
  Effect.gen(function* () {
    const { port } = yield* TestApi
    const { org, token } = yield* somebody(`${emit.name}${query.length}@example.com`)
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
    const browser = yield* Effect.acquireRelease(Effect.promise(launch), (it) => Effect.promise(() => it.close()))
    const tab = yield* Effect.promise(() => browser.newPage())
    yield* Effect.promise(() => tab.goto(`http://127.0.0.1:${front.port}/`))
    const readAll = (ways: ReadonlyArray<string>, concurrency: number) => {
      const paths = ways.map((way) => `/${way}${query}`)
      return Effect.promise(
        (): Promise<unknown> => tab.evaluate(`readAll(${JSON.stringify(paths)}, ${count}, ${concurrency})`)
      )
    }
    return { front, readAll, bytes: direct.bytes, sent, outcome: JSON.stringify(sent) }
  })

const every = (way: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => `${way}/${from + at}`)

/** As many connections as a browser opens to one origin. */
const connections = 6

layer(streamApi({ heartbeat: Duration.minutes(5) }), { excludeTestServices: true })("a browser's EventSource", (it) => {
  it.effect.skipIf(!browserTests)(
    "reads every event of a stream that is cut at every byte",
    () =>
      Effect.gen(function* () {
        const { bytes, outcome, readAll, sent } = yield* scene(several, 4)
        assert.deepStrictEqual(
          sent.map(([type]) => type),
          ["operation.updated.v1", "other.done.v1", "error.v1", "operation.updated.v1"]
        )
        assert.strictEqual(JSON.parse(sent[1]?.[2] ?? "null").data.text, text)
        const cuts = every("cut", 1, bytes.length)
        assert.deepStrictEqual(yield* readAll(cuts, connections), [[outcome, cuts.length]])
        assert.deepStrictEqual(yield* readAll(["bytes/1"], 1), [[outcome, 1]])
      }),
    120_000
  )

  it.effect.skipIf(!browserTests)(
    "comes back with its last id from wherever a stream is severed, and misses nothing",
    () =>
      Effect.gen(function* () {
        const { bytes, front, outcome, readAll } = yield* scene(several, 4, "?bookmarks=1")
        // From where it has a position of its own to the last byte before it has everything.
        const bookmark = bytes.indexOf("\n\n", bytes.indexOf("\nid: ")) + 2
        const last = bytes.lastIndexOf("\n\n") + 1
        const ends = every("sever", bookmark, last + 1)
        // The server has them wait for a second or more, and while they do they hold no connection.
        assert.deepStrictEqual(yield* readAll(ends, 400), [[outcome, ends.length]])
        assert.lengthOf(front.resumed, ends.length)
        assert.notInclude(front.resumed, null)
        assert.lengthOf(new Set(front.resumed), 4)
      }),
    240_000
  )

  it.effect.skipIf(!browserTests)(
    "reads events of 64 KiB in pieces of any size, and comes back in the middle of one",
    () =>
      Effect.gen(function* () {
        const { bytes, front, outcome, readAll } = yield* scene(large, 3, "?bookmarks=1")
        const pieces = every("pieces", 0, 30)
        assert.deepStrictEqual(yield* readAll(pieces, connections), [[outcome, pieces.length]])
        const step = Math.floor(bytes.length / 40)
        const ends = Array.from({ length: 38 }, (_, at) => `sever/${(at + 1) * step}`)
        assert.deepStrictEqual(yield* readAll(ends, ends.length), [[outcome, ends.length]])
        assert.lengthOf(front.resumed, ends.length)
        assert.notInclude(front.resumed, null)
      }),
    240_000
  )
})
