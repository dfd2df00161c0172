import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { heldOperation, id, operation } from "./support/heldOperation.ts"
import { shop } from "./support/records.ts"

/** A platform on which the operation has this status until the test changes it. */
const platform = Effect.map(heldOperation(null), (world) => ({
  ...world,
  watch: (more: ReadonlyArray<string> = []) => world.run(["operation", "watch", id, "--project", shop, ...more])
}))

describe("waiting for an operation", () => {
  it.live("a failed operation is exit 1, with the platform's sentence and the command that shows it", () =>
    Effect.gen(function* () {
      const { now, watch } = yield* platform
      now.operation = operation("failed", "The disk is full.")
      assert.deepStrictEqual(yield* watch(), {
        code: 1,
        stdout: "",
        stderr: `error: create_timeline failed: The disk is full.\n  hint: narthex operation get ${id} --project ${shop}\n`
      })
    }).pipe(Effect.scoped)
  )

  it.live("--timeout ends the waiting with exit 1, and says that the operation continues", () =>
    Effect.gen(function* () {
      const { watch } = yield* platform
      const { code, stderr } = yield* watch(["--timeout", "1s"])
      assert.strictEqual(code, 1)
      assert.match(
        stderr,
        /is still running\. It continues on the server\.\n {2}hint: To follow: narthex operation watch/
      )
    }).pipe(Effect.scoped)
  )

  it.live("interrupting the waiting says how to go on", () =>
    Effect.gen(function* () {
      const { now, plane, run } = yield* platform
      const notes: Array<string> = []
      const watching = yield* Effect.forkChild(
        run(["operation", "watch", id, "--project", shop], { onNote: (line) => void notes.push(line) })
      )
      yield* eventually(
        "the stream to be open and the operation to be read",
        Effect.sync(() => plane.streams > 0 && now.reads > 1)
      )
      yield* Fiber.interrupt(watching)
      assert.deepStrictEqual(notes, [
        `The work continues on the server. To follow: narthex operation watch ${id} --project ${shop}`
      ])
    }).pipe(Effect.scoped)
  )
})
