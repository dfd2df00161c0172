import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { findProgram, runInForeground } from "../src/connecting/foreground.ts"
import { freshHome } from "./support/runNarthex.ts"

describe("a program in the foreground", () => {
  it.live("a signal goes to the program, narthex's own handlers rest, and are back afterwards", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      const ready = join(home, "ready")
      let own = 0
      const listener = () => {
        own += 1
      }
      process.on("SIGTERM", listener)
      yield* Effect.addFinalizer(() => Effect.sync(() => process.removeListener("SIGTERM", listener)))
      const before = process.rawListeners("SIGTERM")
      const script = `trap 'exit 7' TERM; : > "$READY"; while :; do sleep 0.05; done`
      const running = yield* Effect.forkChild(
        runInForeground("/bin/sh", ["-c", script], { PATH: process.env["PATH"], READY: ready })
      )
      yield* eventually(
        "the program to be ready",
        Effect.sync(() => existsSync(ready))
      )
      // The handlers run as they do for a signal, without one for the other tests of this process.
      process.emit("SIGTERM", "SIGTERM")
      assert.strictEqual(yield* Fiber.join(running), 7)
      assert.strictEqual(own, 0)
      assert.deepStrictEqual(process.rawListeners("SIGTERM"), before)
    }).pipe(Effect.scoped)
  )

  it.live("a program that cannot be started is a failure, and the handlers are back", () =>
    Effect.gen(function* () {
      const before = process.rawListeners("SIGINT")
      const { message } = yield* Effect.flip(runInForeground("/nowhere/psql", [], {}))
      assert.match(message, /^\/nowhere\/psql cannot be started: /)
      assert.deepStrictEqual(process.rawListeners("SIGINT"), before)
    })
  )

  it.live("a program is found in the absolute folders of PATH only, and must be an executable file", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      const [first, second] = [join(home, "first"), join(home, "second")]
      mkdirSync(join(first, "psql"), { recursive: true })
      mkdirSync(second)
      writeFileSync(join(second, "psql"), "", { mode: 0o755 })
      writeFileSync(join(second, "plain"), "", { mode: 0o644 })
      const path = ["relative", first, second].join(":")
      assert.strictEqual(findProgram("psql", path, "linux"), join(second, "psql"))
      assert.isUndefined(findProgram("psql", `.:${first}`, "linux"))
      assert.isUndefined(findProgram("psql", undefined, "linux"))
      assert.isUndefined(findProgram("psql", path, "win32"))
      assert.isUndefined(findProgram("plain", path, "linux"), "not even for root")
    }).pipe(Effect.scoped)
  )
})
