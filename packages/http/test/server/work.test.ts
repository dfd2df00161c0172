/** The cost of a request, in numbers that do not depend on the machine: fibers, and steps of Effect's interpreter. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, References, Scheduler } from "effect"
import { HttpClientRequest } from "effect/http"
import { memoryApi } from "../support/apiOver.ts"
import { founder, key } from "../support/story.ts"
import { TestApi } from "../support/wire.ts"

/** Is asked before each step. */
class CountingScheduler extends Scheduler.MixedScheduler {
  steps = 0

  override shouldYield(fiber: Fiber.Fiber<unknown, unknown>): boolean {
    this.steps += 1
    return super.shouldYield(fiber)
  }
}

const counting = new CountingScheduler()

const counted = Layer.mergeAll(
  Layer.succeed(Scheduler.Scheduler, counting),
  Layer.succeed(References.TracerEnabled, false)
)

const fibersUntilNow = Effect.flatMap(Effect.forkChild(Effect.void), (fiber) => Effect.as(Fiber.join(fiber), fiber.id))

const times = 20

/** Fibers and steps of one of several equal requests. */
const workOf = Effect.fnUntraced(function* (path: string, token: string) {
  const { direct } = yield* TestApi
  if (direct === undefined) throw new Error("The API is not called within its process.")
  const request = HttpClientRequest.get(`http://api.test${path}`).pipe(HttpClientRequest.bearerToken(token))
  const ask = Effect.map(direct.execute(request), ({ status }) => assert.strictEqual(status, 200))
  // The first use of a key is written at once.
  yield* ask
  const before = { fibers: yield* fibersUntilNow, steps: counting.steps }
  for (let n = 0; n < times; n++) yield* ask
  const after = { fibers: yield* fibersUntilNow, steps: counting.steps }
  return {
    fibers: (after.fibers - before.fibers) / times,
    steps: (after.steps - before.steps) / times
  }
})

layer(Layer.provide(memoryApi({ idle: true }), counted), { excludeTestServices: true })(
  "the work of a request",
  (it) => {
    it.effect("a request takes one fiber, and its steps are bounded", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const { token: secret } = yield* key(who)
        const bounds = [
          { path: "/v1/auth/whoami", token: secret, steps: 190 },
          { path: "/v1/auth/whoami", token: who.token, steps: 140 },
          { path: "/v1/projects", token: secret, steps: 150 },
          { path: "/v1/projects", token: who.token, steps: 140 }
        ]
        for (const { path, steps, token } of bounds) {
          const work = yield* workOf(path, token)
          const said = `${path}: ${work.fibers} fibers and ${work.steps} steps`
          // Background work has a fiber now and then.
          assert.isAtMost(work.fibers, 1.5, said)
          assert.isAtMost(work.steps, steps, said)
        }
      })
    )
  }
)
