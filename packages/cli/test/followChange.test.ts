import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { problem } from "../../../test/support/HostedPlane.ts"
import type { Run } from "./support/runNarthex.ts"
import { withShop } from "./support/signedIn.ts"

/** Creates a branch with `--wait`. Reading the branch gets this answer. */
const createBranch = (last: Response | "silence", timeout: string) =>
  Effect.gen(function* () {
    const { branch: main, plane, run, shop } = yield* withShop()
    const asked = yield* Deferred.make<void>()
    const branches = `/v1/projects/${shop}/branches/`
    plane.instead = ({ path }) => {
      if (!path.startsWith(branches) || path.endsWith(main.id)) return undefined
      Deferred.doneUnsafe(asked, Effect.void)
      return last
    }
    const args = ["branch", "create", "preview", "--project", shop, "--no-endpoint", "--wait", "--timeout", timeout]
    const running = yield* Effect.forkChild(run([...args, "-o", "json"]))
    yield* Deferred.await(asked)
    return running
  })

const assertAnswerBefore = ({ code, stderr, stdout }: Run) => {
  assert.strictEqual(code, 0, stderr)
  assert.match(stderr, /^Done after .+ s\.\nThe state could not be read again\./)
  const answer = JSON.parse(stdout)
  assert.deepStrictEqual([answer.branch.current_state, answer.operations[0].status], ["init", "scheduling"])
}

describe("the answer after --wait", () => {
  it.effect("is that from before the waiting, with a note and exit 0, if the last read is refused", () =>
    Effect.gen(function* () {
      assertAnswerBefore(yield* Fiber.join(yield* createBranch(problem("not_found"), "5m")))
    }).pipe(Effect.scoped)
  )

  for (const [timeout, bound] of [
    ["5m", 10],
    ["3s", 3]
  ] as const)
    it.effect(`is that from before the waiting if the last read has no answer in ${bound} s, of ${timeout}`, () =>
      Effect.gen(function* () {
        const running = yield* createBranch("silence", timeout)
        yield* TestClock.adjust(`${bound - 1} seconds`)
        assert.isUndefined(running.pollUnsafe())
        yield* TestClock.adjust("1 second")
        assertAnswerBefore(yield* Fiber.join(running))
      }).pipe(Effect.scoped)
    )
})
