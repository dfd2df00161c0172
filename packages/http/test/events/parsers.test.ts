/**
 * Parsers that we did not write read what our server sent, cut in two at every byte: Node's own EventSource, npm
 * `eventsource` and `eventsource-parser`. All of them see the same events, with the same ids.
 */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { EventSource } from "eventsource"
import { createParser } from "eventsource-parser"
import { opened } from "./support/RawStream.ts"
import { counting, somebody, state, streamApi } from "./support/streamApi.ts"

/** Type, last event id, data. */
type Seen = readonly [type: string, id: string, data: string]

const eventTypes = ["operation.updated.v1", "resume.gap.v1", "overflow.v1", "error.v1", "message"]

/** A stream as it was sent: a gap, events with all sorts of text, an event that could not be sent, heartbeats. */
const recorded = (path: string) =>
  Effect.gen(function* () {
    const { org, token } = yield* somebody(`${path.length}@example.com`)
    const stream = yield* opened({ token, path, headers: ["Last-Event-ID: none"] })
    yield* state(org, counting(1, 1))
    yield* state(org, [{ data: { text: "żółć 🐘 \u2028 \r\n\n data: x" } }, { type: "Not a type" }])
    yield* stream.until("a heartbeat behind the events", ({ text }) => /error\.v1[\s\S]*\n:\n/.test(text))
    yield* state(org, counting(2, 1))
    yield* stream.until("the last event", ({ events }) => events.length === 5)
    const sent = stream.events.map((event): Seen => [event.event ?? "", event.id ?? "", event.data ?? ""])
    return { body: stream.body, sent }
  }).pipe(Effect.scoped)

const parse = (parts: ReadonlyArray<Uint8Array>): ReadonlyArray<Seen> => {
  const seen: Array<Seen> = []
  const decoder = new TextDecoder()
  const parser = createParser({
    onEvent: ({ data, event = "message", id = "" }) => void seen.push([event, id, data]),
    onError: (error) => assert.fail(error.message)
  })
  for (const part of parts) parser.feed(decoder.decode(part, { stream: true }))
  return seen
}

/** npm `eventsource` over a body in these parts. */
const follow = (parts: ReadonlyArray<Uint8Array>): Promise<ReadonlyArray<Seen>> =>
  new Promise((done) => {
    const seen: Array<Seen> = []
    const source = new EventSource("http://stream.test/", {
      fetch: async () =>
        new Response(
          new ReadableStream({
            start: (controller) => {
              for (const part of parts) controller.enqueue(part)
              controller.close()
            }
          }),
          { headers: { "content-type": "text/event-stream; charset=utf-8" } }
        )
    })
    for (const type of eventTypes)
      source.addEventListener(type, ({ data, lastEventId }) => void seen.push([type, lastEventId, data]))
    source.onerror = () => {
      source.close()
      done(seen)
    }
  })

const cuts = (body: Buffer) =>
  Array.from({ length: body.length + 1 }, (_, at) => [body.subarray(0, at), body.subarray(at)])

const paths = ["/v1/events", "/v1/events?bookmarks=1"]

layer(streamApi({ heartbeat: Duration.millis(100) }), { excludeTestServices: true })(
  "our streams, cut at every byte",
  (it) => {
    it.effect.each(paths)("are read by eventsource-parser: %s", (path) =>
      Effect.gen(function* () {
        const { body, sent } = yield* recorded(path)
        assert.deepStrictEqual(
          sent.map(([type]) => type),
          ["resume.gap.v1", "operation.updated.v1", "operation.updated.v1", "error.v1", "operation.updated.v1"]
        )
        for (const parts of cuts(body)) assert.deepStrictEqual(parse(parts), sent)
        assert.deepStrictEqual(parse(Array.from(body, (byte) => Uint8Array.of(byte))), sent)
      })
    )

    it.effect.each(paths)("are read by npm eventsource: %s", (path) =>
      Effect.gen(function* () {
        const { body, sent } = yield* recorded(path)
        const all = [...cuts(body), Array.from(body, (byte) => Uint8Array.of(byte))]
        yield* Effect.forEach(
          all,
          (parts) =>
            Effect.map(
              Effect.promise(() => follow(parts)),
              (seen) => assert.deepStrictEqual(seen, sent)
            ),
          { concurrency: 16 }
        )
      })
    )

    it.effect.each(paths)(
      "are read by Node's own EventSource: %s",
      (path) =>
        Effect.gen(function* () {
          const { body, sent } = yield* recorded(path)
          const said = yield* Effect.promise(async () => {
            const child = spawn(
              process.execPath,
              [
                "--experimental-eventsource",
                "--no-warnings",
                join(import.meta.dirname, "support/nativeEventSource.ts")
              ],
              { stdio: ["pipe", "pipe", "inherit"] }
            )
            child.stdin.end(body)
            return text(child.stdout)
          })
          assert.deepStrictEqual(JSON.parse(said), [[JSON.stringify(sent), body.length + 1]])
        }),
      120_000
    )
  }
)
