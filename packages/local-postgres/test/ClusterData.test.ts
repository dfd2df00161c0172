/** Data that do not get their name. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync } from "node:fs"
import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { within } from "../../../test/harness/eventually.ts"
import { program } from "../../../test/harness/programs.ts"
import { type Cluster, clusterAt } from "../src/cluster/Cluster.ts"
import { hasData, putData, sweepData } from "../src/cluster/ClusterData.ts"
import { closedDirectory } from "./support.ts"

const write = (making: string) =>
  Effect.promise(async () => {
    await mkdir(making)
    await writeFile(join(making, "PG_VERSION"), "18\n")
  })

const withRows = (rows: string) => (making: string) =>
  Effect.andThen(
    write(making),
    Effect.promise(() => writeFile(join(making, "rows"), rows))
  )

/** Another process changes the data, and is killed before one of its renames and removals. Whether it had so many. */
const isKilled = ({ directory }: Cluster, change: "put" | "remove", before: number) =>
  Effect.promise(async () => {
    const child = spawn(process.execPath, [await program("data-change"), directory, change, String(before)], {
      stdio: ["ignore", "inherit", "inherit"]
    })
    const [code, signal] = await within("the change to end", once(child, "exit"), 60_000)
    if (code !== 0) assert.strictEqual(signal, "SIGKILL")
    return signal === "SIGKILL"
  })

const rowsOf = ({ data }: Cluster) => Effect.promise(() => readFile(join(data, "rows"), "utf8"))

/** The finding of the next start after a change was killed before each of its renames and removals, in their order. */
const foundAfter = Effect.fnUntraced(function* <A, E>(
  change: "put" | "remove",
  find: (cluster: Cluster) => Effect.Effect<A, E>
) {
  const found: Array<A> = []
  for (let before = 1; ; before++) {
    const cluster = yield* empty
    yield* putData(cluster, withRows("earlier"), Effect.void)
    const killed = yield* isKilled(cluster, change, before)
    if (killed) yield* sweepData(cluster)
    found.push(yield* find(cluster))
    if (!killed) return found
  }
})

/** The first kills, at least `least`, leave the earlier data. All later kills, at least one, leave `then`. */
const assertChangesOnce = (found: ReadonlyArray<string>, then: string, least: number) => {
  const first = found.indexOf(then)
  assert.isAtLeast(first, least)
  assert.isBelow(first, found.length - 1, "some kills after the change")
  assert.deepStrictEqual(
    found,
    found.map((_, index) => (index < first ? "earlier" : then))
  )
}

const empty = Effect.map(closedDirectory, (path) => clusterAt(join(path, "cluster"), "compute"))

describe("data of a cluster", () => {
  it.live("data that are superseded before they get their name leave nothing", () =>
    Effect.gen(function* () {
      const cluster = yield* empty
      const failure = yield* Effect.flip(putData(cluster, write, Effect.fail("superseded")))
      assert.strictEqual(failure, "superseded")
      assert.deepStrictEqual(readdirSync(cluster.directory), [])
    })
  )

  it.live("data stay in place if the new data cannot get their name", () =>
    Effect.gen(function* () {
      const cluster = yield* empty
      yield* putData(cluster, write, Effect.void)
      const lost = Effect.promise(() => rm(join(cluster.directory, "making"), { recursive: true }))
      yield* Effect.flip(putData(cluster, write, lost))
      assert.deepStrictEqual(readdirSync(cluster.directory), ["data"])
      assert.deepStrictEqual(readdirSync(cluster.data), ["PG_VERSION"])
    })
  )

  it.live("data whose making is cancelled leave nothing", () =>
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

  it.live("data are the earlier or the new ones, wherever the process is killed that replaces them", () =>
    Effect.gen(function* () {
      const found = yield* foundAfter(
        "put",
        Effect.fnUntraced(function* (cluster) {
          assert.deepStrictEqual(readdirSync(cluster.directory), ["data"])
          assert.deepStrictEqual(readdirSync(cluster.data).toSorted(), ["PG_VERSION", "rows"])
          return yield* rowsOf(cluster)
        })
      )
      assertChangesOnce(found, "new", 3)
    })
  )

  it.live("data are whole or gone, wherever the process is killed that removes them", () =>
    Effect.gen(function* () {
      const found = yield* foundAfter(
        "remove",
        Effect.fnUntraced(function* (cluster) {
          if (!(yield* hasData(cluster))) return "gone"
          assert.deepStrictEqual(readdirSync(cluster.directory), ["data"])
          return yield* rowsOf(cluster)
        })
      )
      assertChangesOnce(found, "gone", 1)
    })
  )

  it.live("data that cannot be looked at do not count as missing", () =>
    Effect.gen(function* () {
      const cluster = yield* empty
      yield* Effect.promise(() => writeFile(cluster.directory, ""))
      const failure = yield* Effect.flip(hasData(cluster))
      assert.match(failure.message, /Looking at .*data/)
    })
  )
})
