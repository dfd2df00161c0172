import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { heldOperation } from "./support/heldOperation.ts"

describe("waiting for an operation", () => {
  it.live("a failed operation is exit 1, with the platform's sentence and the command that shows it", () =>
    Effect.gen(function* () {
      const { id, shop, watch } = yield* heldOperation("The disk is full.", true)
      assert.deepStrictEqual(yield* watch(), {
        code: 1,
        stdout: "",
        stderr: `error: create timeline error: The disk is full.\n  hint: narthex operation get ${id} --project ${shop}\n`
      })
    }).pipe(Effect.scoped)
  )

  it.live("--timeout ends the waiting with exit 1, and says that the operation continues", () =>
    Effect.gen(function* () {
      const { watch } = yield* heldOperation(null)
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
      const { id, plane, reads, run, shop } = yield* heldOperation(null)
      const notes: Array<string> = []
      const watching = yield* Effect.forkChild(
        run(["operation", "watch", id, "--project", shop], { onNote: (line) => void notes.push(line) })
      )
      yield* eventually(
        "the stream to be open and the operation to be read",
        Effect.sync(() => plane.streams > 0 && reads() > 1)
      )
      yield* Fiber.interrupt(watching)
      assert.deepStrictEqual(notes, [
        `The work continues on the server. To follow: narthex operation watch ${id} --project ${shop}`
      ])
    }).pipe(Effect.scoped)
  )
})
