/** The log for people: short lines on stderr, with everything that the JSON log has but ids. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { layerLogging } from "../src/logging.ts"

/** The log of a program on stderr with the format `pretty`. */
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

  it.live("characters that control a terminal are escaped, wherever they are, and lines stay lines", () =>
    Effect.gen(function* () {
      const [escape, c1, override] = ["\u001b[2J", "\u009b2J", "\u202ecod"]
      const attack = Effect.logInfo(`Refused${escape}`, `more${c1}`, new Error(`why${override}\nnext`)).pipe(
        Effect.annotateLogs({ path: `/v1/${c1}` })
      )
      const text = (yield* logged(attack)).join("\n")
      assert.match(text, /^ {2}next$/m)
      for (const shown of ["Refused\\u001b[2J", "more\\u009b2J", "why\\u202ecod", "path: /v1/\\u009b2J"])
        assert.include(text, shown)
      for (const raw of [escape, c1, override]) assert.notInclude(text, raw)
    })
  )
})
