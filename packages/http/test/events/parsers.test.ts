/**
 * Independent parsers read what the server sent, cut in two: Node's own EventSource, npm `eventsource` and
 * `eventsource-parser`. All of them see the same events, with the same ids. The last is cut at every byte; the others
 * are in the long form, and in the short one at what `places` chooses.
 */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { EventSource } from "eventsource"
import { createParser } from "eventsource-parser"
import { within } from "../../../../test/harness/eventually.ts"
import { someServings } from "../support/apiOver.ts"
import { opened } from "./support/FetchStream.ts"
import { places } from "./support/places.ts"
import { counting, signedIn, state, streamApi } from "./support/streamApi.ts"

/** Type, last event id, data. */
type Seen = readonly [type: string, id: string, data: string]

const eventTypes = ["operation.updated.v1", "resume.gap.v1", "overflow.v1", "error.v1", "message"]

/** A stream as it was sent: a gap, events with all sorts of text, an event that could not be sent, heartbeats. */
const recorded = (path: string) =>
  Effect.gen(function* () {
    const { org, token } = yield* signedIn(`${path.length}@example.com`)
    const stream = yield* opened({ token, path, headers: ["Last-Event-ID: none"] })
    yield* state(org, counting(1, 1))
    yield* state(org, [{ data: { text: "żółć 🐘 \u2028 \r\n\n data: x" } }, { type: "Not a type" }])
    yield* stream.until("a heartbeat behind the events", ({ text }) => /error\.v1[\s\S]*\n:\n/.test(text))
    yield* state(org, counting(2, 1))
    yield* stream.until("the last event", ({ events }) => events.length === 5)
    const sent = stream.events.map((event): Seen => [event.event ?? "", event.id ?? "", event.data ?? ""])
    return { body: Buffer.from(stream.text), sent }
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

const single = (body: Buffer) => Array.from(body, (byte) => Uint8Array.of(byte))

const cutAt = (body: Buffer, ats: ReadonlyArray<number>) => ats.map((at) => [body.subarray(0, at), body.subarray(at)])

const everyByte = (body: Buffer) => Array.from({ length: body.length + 1 }, (_, at) => at)

/** The distinct outcomes of Node's own EventSource over a body that is cut at these places, each with how many had it. */
const readNatively = async (body: Buffer, cuts: ReadonlyArray<number>): Promise<unknown> => {
  const script = join(import.meta.dirname, "support/nativeEventSource.ts")
  const args = ["--experimental-eventsource", "--no-warnings", script, JSON.stringify(cuts)]
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"] })
  child.stdin.end(body)
  const [said, complaint] = await Promise.all([text(child.stdout), text(child.stderr)])
  if (said === "") throw new Error(`Node's EventSource ended without an answer: ${complaint}`)
  return JSON.parse(said)
}

const paths = ["/v1/events", "/v1/events?bookmarks=1"]

for (const serving of someServings())
  layer(streamApi({ heartbeat: Duration.millis(100) }, { serving }), { excludeTestServices: true })(
    "streams that are cut in two",
    (it) => {
      it.effect.each(paths)("streams are read by eventsource-parser: %s", (path) =>
        Effect.gen(function* () {
          const { body, sent } = yield* recorded(path)
          assert.deepStrictEqual(
            sent.map(([type]) => type),
            ["resume.gap.v1", "operation.updated.v1", "operation.updated.v1", "error.v1", "operation.updated.v1"]
          )
          const right = JSON.stringify(sent)
          for (const parts of [...cutAt(body, everyByte(body)), single(body)])
            assert.strictEqual(JSON.stringify(parse(parts)), right)
        })
      )

      it.effect.each(paths)("streams are read by npm eventsource: %s", (path) =>
        Effect.gen(function* () {
          const { body, sent } = yield* recorded(path)
          const all = [...cutAt(body, places(body, 0, body.length, 200)), single(body)]
          yield* Effect.forEach(
            all,
            (parts) =>
              Effect.map(
                Effect.promise(() =>
                  within(`the end of a stream of ${parts[0]?.length} bytes and the rest`, follow(parts))
                ),
                (seen) => assert.deepStrictEqual(seen, sent)
              ),
            { concurrency: 16 }
          )
        })
      )

      it.effect.each(paths)("streams are read by Node's EventSource: %s", (path) =>
        Effect.gen(function* () {
          const { body, sent } = yield* recorded(path)
          const cuts = places(body, 0, body.length, 100)
          const seen = yield* Effect.promise(() => within("what Node's own EventSource read", readNatively(body, cuts)))
          assert.deepStrictEqual(seen, [[JSON.stringify(sent), cuts.length]])
        })
      )
    }
  )
