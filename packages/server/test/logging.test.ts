/** The log for people: short lines on stderr, with everything that the JSON log has but ids. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { layerLogging } from "../src/logging.ts"

/** What a program logs on stderr with the format `pretty`. */
const logged = (program: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const before = console.error
    const lines: Array<string> = []
    console.error = (text: string) => void lines.push(text)
    yield* program.pipe(
      Effect.provide(layerLogging({ log: { level: "Info", format: "pretty", requests: "none" } })),
      Effect.ensuring(
        Effect.sync(() => {
          console.error = before
        })
      )
    )
    return lines
  })

describe("the log for people", () => {
  it.live("a line has the time and the message, and no id of a fiber", () =>
    Effect.gen(function* () {
      const [line, ...others] = yield* logged(Effect.logInfo("The database is ready."))
      assert.match(line ?? "", /^\d\d:\d\d:\d\d {2}The database is ready\.$/)
      assert.isEmpty(others)
    })
  )

  it.live("a warning names its level, and has its cause and annotations below it, without secrets", () =>
    Effect.gen(function* () {
      const warning = Effect.logWarning("Purging failed.", new Error("no space"), Redacted.make("hunter2")).pipe(
        Effect.annotateLogs({ project: "prj_1", password: Redacted.make("hunter2") })
      )
      const text = (yield* logged(warning)).join("\n")
      assert.match(text, /^\d\d:\d\d:\d\d {2}\S*WARN\S* {2}Purging failed\.\n {2}/)
      assert.include(text, "no space")
      assert.match(text, /^ {2}project: prj_1$/m)
      assert.notInclude(text, "hunter2")
    })
  )
})
