import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it, layer } from "@effect/vitest"
import { BranchId, ComputeDriver, EndpointId } from "@narthex/core"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Effect, Fiber, Layer, Option } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { clusterAt } from "../src/cluster/Cluster.ts"
import { processesOf } from "../src/machine/Processes.ts"
import { closedDirectory, dataDirectory, kinds, minted, postmasterPid, session, supervise } from "./support.ts"

const main = BranchId.make("br-main")
const copy = BranchId.make("br-copy")
const ep = (name: string) => EndpointId.make(`ep-${name}`)
const owner = minted("owner", "read_write")

const clusterIn = (dataDir: string, branch: BranchId) =>
  clusterAt(join(dataDir, "computes", "branches", branch), "compute")

const start = (branch_id: BranchId, endpoint: string, generation: number, roles = [owner]) =>
  ComputeDriver.use((driver) => driver.start({ branch_id, endpoint_id: ep(endpoint), generation, roles }))

const query = (address: string, text: string, role = "owner") =>
  Effect.scoped(Effect.flatMap(session(address, role), (sql) => sql.unsafe<{ readonly n: number }>(text)))

const isRefused = (address: string) =>
  Effect.map(Effect.exit(query(address, "SELECT 1")), (exit) => exit._tag === "Failure")

for (const kind of [0, 1] as const) {
  const { choice, tag } = kinds[kind]
  const drivers = Layer.unwrap(
    Effect.map(dataDirectory(kind), (dataDir) => LocalComputeDriver.layer({ dataDir, binaries: choice }))
  )

  describe(`computes on the ${choice} Postgres`, { tags: [tag] }, () =>
    layer(drivers, { excludeTestServices: true })((it) => {
      it.effect("a new branch starts, and a second start of the same generation has the same address", () =>
        Effect.gen(function* () {
          const driver = yield* ComputeDriver
          yield* driver.createBranch(main, Option.none())
          yield* driver.createBranch(main, Option.none())
          const compute = yield* start(main, "main", 1)
          assert.include(compute.address, "ep-main.1")
          assert.isAtMost(Buffer.byteLength(compute.address), 107)
          assert.deepStrictEqual(yield* start(main, "main", 1), compute)
          assert.deepStrictEqual(yield* driver.running, [compute])
          yield* query(compute.address, "CREATE TABLE t AS SELECT 1 AS n")
        })
      )

      it.effect("a later generation has the same data and another address, and the earlier address leads nowhere", () =>
        Effect.gen(function* () {
          const driver = yield* ComputeDriver
          const [before] = yield* driver.running
          yield* driver.stop(ep("main"))
          yield* driver.stop(ep("main"))
          assert.deepStrictEqual(yield* driver.running, [])
          const after = yield* start(main, "main", 2)
          assert.strictEqual((yield* query(after.address, "SELECT n FROM t"))[0]?.n, 1)
          assert.isTrue(yield* isRefused(before?.address ?? ""))
          const error = yield* Effect.flip(start(main, "main", 1))
          assert.isFalse(error.retryable)
        })
      )

      it.effect("a copy of a running parent is consistent while rows are written, and independent afterwards", () =>
        Effect.gen(function* () {
          const driver = yield* ComputeDriver
          const parent = (yield* driver.running)[0]?.address ?? ""
          yield* query(
            parent,
            "CREATE TABLE many AS SELECT i AS n, repeat('x', 500) AS text FROM generate_series(1, 20000) i"
          )
          let writes = 0
          const write = Effect.tap(query(parent, "UPDATE many SET text = repeat('y', 500) WHERE n % 10 = 3"), () =>
            Effect.sync(() => (writes += 1))
          )
          const writing = yield* Effect.forkChild(Effect.forever(write))
          yield* eventually(
            "the first write",
            Effect.sync(() => writes > 0)
          )
          yield* driver.createBranch(copy, Option.some(main))
          assert.isUndefined(writing.pollUnsafe(), "it was written all the time")
          yield* Fiber.interrupt(writing)
          const child = yield* start(copy, "copy", 1)
          const [rows] = yield* query(child.address, "SELECT count(*)::int AS n FROM many")
          assert.strictEqual(rows?.n, 20000)
          yield* query(child.address, "INSERT INTO t VALUES (2)")
          assert.strictEqual((yield* query(parent, "SELECT n FROM t")).length, 1)
          yield* query(parent, "DELETE FROM t")
          assert.strictEqual((yield* query(child.address, "SELECT n FROM t")).length, 2)
        })
      )

      it.effect("a copy of a stopped parent is independent, and has none of the parent's roles", () =>
        Effect.gen(function* () {
          const driver = yield* ComputeDriver
          const branch = BranchId.make("br-of-stopped")
          yield* driver.stop(ep("copy"))
          yield* driver.createBranch(branch, Option.some(copy))
          const child = yield* start(branch, "of-stopped", 1, [minted("other", "read_write")])
          assert.isTrue(yield* isRefused(child.address))
          yield* query(child.address, "INSERT INTO t VALUES (3)", "other")
          const parent = yield* start(copy, "copy", 2)
          assert.strictEqual((yield* query(parent.address, "SELECT n FROM t")).length, 2)
        })
      )

      it.effect("a reset stops the computes of the branch and gives it the parent's data", () =>
        Effect.gen(function* () {
          const driver = yield* ComputeDriver
          yield* driver.resetBranch(copy, main)
          assert.isFalse((yield* driver.running).some((it) => it.branch_id === copy))
          const { address } = yield* start(copy, "copy", 3)
          assert.strictEqual((yield* query(address, "SELECT n FROM t")).length, 0)
          yield* driver.resetBranch(copy, main)
        })
      )

      it.effect("two endpoints of a branch share its server, which runs until the last of them stops", () =>
        Effect.gen(function* () {
          const driver = yield* ComputeDriver
          const first = yield* start(main, "main", 2)
          const second = yield* start(main, "second", 1)
          yield* driver.stop(ep("main"))
          assert.isTrue(yield* isRefused(first.address))
          yield* query(second.address, "SELECT 1")
          yield* driver.stop(ep("second"))
          assert.isTrue(yield* isRefused(second.address))
          assert.isFalse((yield* driver.running).some((it) => it.branch_id === main))
        })
      )

      it.effect("deleting a branch removes its computes, and may be repeated", () =>
        Effect.gen(function* () {
          const driver = yield* ComputeDriver
          const { address } = yield* start(copy, "copy", 4)
          yield* driver.deleteBranch(copy)
          yield* driver.deleteBranch(copy)
          assert.isTrue(yield* isRefused(address))
          assert.isFalse((yield* Effect.flip(start(copy, "copy", 5))).retryable)
        })
      )

      it.effect("an id that is not a file name is refused", () =>
        Effect.gen(function* () {
          const driver = yield* ComputeDriver
          const error = yield* Effect.flip(driver.createBranch(BranchId.make("../../out"), Option.none()))
          assert.isFalse(error.retryable)
        })
      )
    })
  )

  describe(`the supervision of computes on the ${choice} Postgres`, { tags: [tag] }, () => {
    it.live("the driver adopts the computes of a killed process, and stops them when its scope closes", () =>
      Effect.gen(function* () {
        const dataDir = yield* dataDirectory(kind)
        const cluster = clusterIn(dataDir, BranchId.make("br-kept"))
        const task = { dataDir, binaries: choice }
        const child = yield* supervise({ run: "compute", ...task })
        const left = postmasterPid(cluster.data)
        yield* child.end("SIGKILL")
        yield* Effect.gen(function* () {
          const driver = yield* ComputeDriver
          assert.deepStrictEqual(yield* driver.running, [child.said])
          const again = yield* start(BranchId.make("br-kept"), "kept", 7)
          assert.deepStrictEqual(again, child.said)
          assert.strictEqual(postmasterPid(cluster.data), left)
          yield* query(again.address, "SELECT 1")
        }).pipe(Effect.provide(LocalComputeDriver.layer(task)))
        assert.deepStrictEqual(yield* processesOf(cluster.name), [])
        assert.isFalse(existsSync(child.said.address))
      })
    )
  })
}

describe("the driver of local computes", () => {
  it.live("a second driver on a data directory is refused", () =>
    Effect.gen(function* () {
      const options = { dataDir: yield* closedDirectory }
      yield* Layer.build(LocalComputeDriver.layer(options))
      const error = yield* Effect.flip(Layer.build(LocalComputeDriver.layer({ ...options })))
      assert.strictEqual(error._tag, "DataDirectoryLocked")
    })
  )
})
