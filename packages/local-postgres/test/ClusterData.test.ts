/** Data that do not get their name. */
import { readdirSync } from "node:fs"
import { mkdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { clusterAt } from "../src/cluster/Cluster.ts"
import { putData } from "../src/cluster/ClusterData.ts"
import { closedDirectory } from "./support.ts"

const write = (making: string) =>
  Effect.promise(async () => {
    await mkdir(making)
    await writeFile(join(making, "PG_VERSION"), "18\n")
  })

const empty = Effect.map(closedDirectory, (path) => clusterAt(join(path, "cluster"), "compute"))

describe("data of a cluster", () => {
  it.live("that are not wanted any more leave nothing", () =>
    Effect.gen(function* () {
      const cluster = yield* empty
      const failure = yield* Effect.flip(putData(cluster, write, Effect.fail("superseded")))
      assert.strictEqual(failure, "superseded")
      assert.deepStrictEqual(readdirSync(cluster.directory), [])
    })
  )

  it.live("stay in place if the new ones cannot get their name", () =>
    Effect.gen(function* () {
      const cluster = yield* empty
      yield* putData(cluster, write, Effect.void)
      const lost = Effect.promise(() => rm(join(cluster.directory, "making"), { recursive: true }))
      yield* Effect.flip(putData(cluster, write, lost))
      assert.deepStrictEqual(readdirSync(cluster.directory), ["data"])
      assert.deepStrictEqual(readdirSync(cluster.data), ["PG_VERSION"])
    })
  )

  it.live("whose making is cancelled leave nothing", () =>
    Effect.gen(function* () {
      const cluster = yield* empty
      const begun = yield* Deferred.make<void>()
      const make = (making: string) =>
        Effect.andThen(write(making), Effect.andThen(Deferred.succeed(begun, undefined), Effect.never))
      const putting = yield* Effect.forkChild(putData(cluster, make, Effect.void))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(putting)
      assert.deepStrictEqual(readdirSync(cluster.directory), [])
    })
  )
})
