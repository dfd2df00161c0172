/** A project whose first operation runs until the test lets it end. */
import { ComputeDriver, ComputeFailed, layerMemoryComputes } from "@narthex/core"
import { Deferred, Effect, Layer } from "effect"
import { withShop } from "./signedIn.ts"

/** Computes that make no branch before `free`. With `reason` the first attempt fails, with no retry if it is `last`. */
const held = (free: Deferred.Deferred<void>, reason: string | null, last: boolean) => {
  let attempts = 0
  return Layer.effect(
    ComputeDriver,
    Effect.map(ComputeDriver, (driver) =>
      ComputeDriver.of({
        ...driver,
        createBranch: (...args) => {
          attempts += 1
          return reason !== null && attempts === 1
            ? Effect.fail(new ComputeFailed({ reason, retryable: !last }))
            : Effect.andThen(Deferred.await(free), driver.createBranch(...args))
        }
      })
    )
  ).pipe(Layer.provide(layerMemoryComputes))
}

export const heldOperation = Effect.fnUntraced(function* (reason: string | null, last = false) {
  const free = yield* Deferred.make<void>()
  const world = yield* withShop({ computes: held(free, reason, last) })
  const { id } = world.operation
  const path = `/v1/projects/${world.shop}/operations/${id}`
  return {
    ...world,
    id,
    /** How often the command has read the operation. */
    reads: () => world.plane.requests.filter((asked) => asked.path === path).length,
    finish: Deferred.succeed(free, undefined),
    watch: (more: ReadonlyArray<string> = []) => world.run(["operation", "watch", id, "--project", world.shop, ...more])
  }
})
