/**
 * The API over memory in a process of its own, so that its memory is the server's alone. Speaks over the IPC channel of
 * `fork`: says `up`, then obeys commands and answers each.
 */
import { EventBroker, EventLog } from "@narthex/core"
import { DateTime, Duration, Effect, type Layer, References } from "effect"
import { TestApi } from "../../support/wire.ts"
import { counting, somebody, state, streamApi } from "./streamApi.ts"

export type Command =
  /** Commits so many events a second for so long. */
  | { readonly publish: { readonly rate: number; readonly millis: number } }
  /** Collects garbage and looks. */
  | { readonly look: true }

export type Answer =
  | { readonly up: { readonly port: number; readonly token: string } }
  | { readonly published: number }
  | { readonly seen: { readonly rss: number; readonly streams: number } }

const say = (answer: Answer) => Effect.callback<void>((done) => void process.send?.(answer, () => done(Effect.void)))

const step = 10
/** About the size of an operation's event. */
const padding = 200

const program = Effect.gen(function* () {
  const { port } = yield* TestApi
  const { org, token } = yield* somebody("ada@example.com")
  const log = yield* EventLog
  const { streams } = yield* EventBroker
  let n = 0

  const publish = Effect.fnUntraced(function* (rate: number, millis: number) {
    const begun = performance.now()
    const first = n
    let trimmed = 0
    for (let now = 0; now < millis; now = performance.now() - begun) {
      const due = first + Math.floor((Math.min(now, millis) * rate) / 1_000) - n
      if (due > 0) yield* state(org, counting(n + 1, due, padding))
      n += Math.max(0, due)
      if (now - trimmed > 500) {
        trimmed = now
        // The log in memory is not what is measured.
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
          return say({ seen: { rss: process.memoryUsage().rss, streams: streams().length } })
        })

  const run = Effect.runForkWith(yield* Effect.context<Layer.Success<ReturnType<typeof streamApi>>>())
  process.on("message", (command: Command) => void run(obey(command)))
  yield* say({ up: { port, token } })
  return yield* Effect.never
})

process.on("disconnect", () => process.exit(0))

await Effect.runPromise(
  program.pipe(
    // A ring of more than a second: on a busy machine a healthy reader may not get its turn for so long.
    Effect.provide(streamApi({ ringEvents: 4_096, stallTimeout: Duration.seconds(60) })),
    Effect.provideService(References.MinimumLogLevel, "None")
  )
)
