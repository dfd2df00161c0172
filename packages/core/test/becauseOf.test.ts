import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Logger, References } from "effect"
import { becauseOf, reasonOf } from "../src/becauseOf.ts"
import { StorageError } from "../src/StorageError.ts"

const outage = new StorageError({
  operation: "OperationStore.claim",
  cause: Object.assign(new Error("the server is gone"), { code: "57P01" })
})

describe("The reason of a failure in the operator's log", () => {
  it.effect("a step that failed is one sentence, with the reason as an annotation", () =>
    Effect.gen(function* () {
      const lines: Array<{ readonly message: unknown; readonly reason: unknown }> = []
      const capture = Logger.make(({ fiber, message }) => {
        lines.push({ message, reason: fiber.getRef(References.CurrentLogAnnotations)["reason"] })
      })
      const write = Effect.logWarning("Purging failed.").pipe(becauseOf(Cause.fail(outage)))
      yield* Effect.provide(write, Logger.layer([capture]))
      const reason = "Storage failed in OperationStore.claim. 57P01: the server is gone"
      assert.deepStrictEqual(lines, [{ message: ["Purging failed."], reason }])
    })
  )

  it("each failure of a cause is named once, and a defect has its frames", () => {
    assert.strictEqual(reasonOf(Cause.combine(Cause.fail(outage), Cause.fail(outage))), outage.line)
    assert.strictEqual(reasonOf(Cause.combine(Cause.fail(outage), Cause.interrupt())), `${outage.line}; interrupted`)
    assert.match(reasonOf(Cause.die(new TypeError("x is undefined"))), /^TypeError: x is undefined\n +at /)
  })

  it("a failure without a cause is its name and its sentence", () => {
    assert.strictEqual(reasonOf(outage), outage.line)
    assert.strictEqual(reasonOf(new RangeError("too many")), "RangeError: too many")
    assert.strictEqual(reasonOf("plain"), "plain")
  })
})
