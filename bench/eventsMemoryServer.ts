/**
 * The API on memory storage in its own process, so that the process contains only the server. Over the IPC channel of
 * `fork` it sends `up`, then replies to each command.
 */
import { EventBroker, EventLog } from "@narthex/core"
import { DateTime, Duration, Effect, type Layer, References } from "effect"
import { counting, signedIn, state, streamApi } from "../packages/http/test/events/support/streamApi.ts"
import { TestApi } from "../packages/http/test/support/wire.ts"

export type Command =
  /** Commits events at a rate, for a duration. */
  | { readonly publish: { readonly rate: number; readonly millis: number } }
  /** Collects garbage and reports the memory. */
  | { readonly look: true }

export type Answer =
  | { readonly up: { readonly port: number; readonly token: string } }
  | { readonly published: number }
  | { readonly seen: { readonly rss: number; readonly live: number; readonly streams: number } }

const say = (answer: Answer) => Effect.callback<void>((done) => void process.send?.(answer, () => done(Effect.void)))

const step = 10
/** The maximum rate after a delay, as a multiple of the configured rate. */
const hurry = 4
/** About the size of an operation's event. */
const padding = 200

const program = Effect.gen(function* () {
  const { port } = yield* TestApi
  const { org, token } = yield* signedIn("ada@example.com")
  const log = yield* EventLog
  const { streams } = yield* EventBroker
  let n = 0

  const publish = Effect.fnUntraced(function* (rate: number, millis: number) {
    const begun = performance.now()
    const first = n
    let trimmed = 0
    for (let now = 0; now < millis; now = performance.now() - begun) {
      const behind = first + Math.floor((Math.min(now, millis) * rate) / 1_000) - n
      const due = Math.min(behind, (hurry * rate * step) / 1_000)
      if (due > 0) yield* state(org, counting(n + 1, due, padding))
      n += Math.max(0, due)
      if (now - trimmed > 500) {
        trimmed = now
        // The log in memory is not part of the measurement.
        yield* log.trim(yield* DateTime.now, 8_192)
      }
      yield* Effect.sleep(step)
    }
    return n - first
  })

  const obey = (command: Command) =>
    "publish" in command
      ? Effect.flatMap(publish(command.publish.rate, command.publish.millis), (published) => say({ published }))
      : Effect.suspend(() => {
          globalThis.gc?.()
          const { external, heapUsed, rss } = process.memoryUsage()
          return say({ seen: { rss, live: heapUsed + external, streams: streams.size } })
        })

  const run = Effect.runForkWith(yield* Effect.context<Layer.Success<ReturnType<typeof streamApi>>>())
  process.on("message", (command: Command) => void run(obey(command)))
  yield* say({ up: { port, token } })
  return yield* Effect.never
})

process.on("disconnect", () => process.exit(0))

await Effect.runPromise(
  program.pipe(
    // Dropped readers are counted at the end.
    Effect.provide(streamApi({ linger: Duration.minutes(1) })),
    Effect.provideService(References.MinimumLogLevel, "None")
  )
)
