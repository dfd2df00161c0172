/** The disk of branches, measured on real clusters. */
import { symlink, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import {
  BranchId,
  BranchSizes,
  BranchStore,
  ComputeDriver,
  DiskMeasurement,
  EndpointId,
  layerMemoryPorts,
  ProjectStore
} from "@narthex/core"
import { aBranch, aProject } from "@narthex/core/testing"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Effect, Layer, Option } from "effect"
import { clusterAt } from "../src/cluster/Cluster.ts"
import { bytesIn, makeDiskUsage } from "../src/computes/diskUsage.ts"
import { dataDirectory, kinds, minted, session } from "./support.ts"

const main = BranchId.make("br-main")
const copy = BranchId.make("br-copy")
const { choice, tag } = kinds[0]
const mebibyte = 1024 ** 2

describe("the disk of branches", { tags: [tag] }, () => {
  it.live("the disk of a branch grows with its data, and is free once the branch is deleted", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataDirectory(0)
      yield* Effect.gen(function* () {
        const driver = yield* ComputeDriver
        const bytesOf = (branch: BranchId) =>
          Effect.map(driver.diskUsage, (all) => all.find((it) => it.branch_id === branch)?.bytes ?? 0)
        assert.deepStrictEqual(yield* driver.diskUsage, [])
        yield* driver.createBranch(main, Option.none())
        const empty = yield* bytesOf(main)
        assert.isAbove(empty, 5 * mebibyte)

        const roles = [minted("owner", "read_write")]
        const { address } = yield* driver.start({
          branch_id: main,
          endpoint_id: EndpointId.make("ep-main"),
          generation: 1,
          roles
        })
        yield* Effect.scoped(
          Effect.gen(function* () {
            const sql = yield* session(address, "owner")
            yield* sql.unsafe(
              "create table t as select repeat(md5(n::text), 30) as it from generate_series(1, 20000) n"
            )
          })
        )
        assert.isAbove((yield* bytesOf(main)) - empty, 15 * mebibyte)
        yield* driver.stop(EndpointId.make("ep-main"))
        const stopped = yield* bytesOf(main)
        assert.isAbove(stopped - empty, 15 * mebibyte)

        yield* driver.createBranch(copy, Option.some(main))
        assert.isAbove(yield* bytesOf(copy), empty + 15 * mebibyte)
        yield* driver.deleteBranch(copy)
        assert.deepStrictEqual(
          (yield* driver.diskUsage).map(({ branch_id }) => branch_id),
          [main]
        )
        yield* driver.resetBranch(main, copy).pipe(Effect.ignore)
        assert.strictEqual(yield* bytesOf(main), stopped)
      }).pipe(Effect.provide(LocalComputeDriver.layer({ dataDir, binaries: choice })))
    })
  )

  it.live("the size of a branch grows with what is written to it, and measuring wakes no suspended compute", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataDirectory(0)
      const measuring = Layer.merge(BranchSizes.layer, DiskMeasurement.layer).pipe(
        Layer.provideMerge(Layer.merge(layerMemoryPorts, LocalComputeDriver.layer({ dataDir, binaries: choice })))
      )
      yield* Effect.gen(function* () {
        const driver = yield* ComputeDriver
        const project = aProject()
        const branch = aBranch(project.id)
        yield* (yield* ProjectStore).insert(project)
        yield* (yield* BranchStore).put(branch)
        const { of } = yield* BranchSizes
        const { record } = yield* DiskMeasurement
        const measured = Effect.gen(function* () {
          assert.strictEqual((yield* record).branches, 1)
          return (yield* of([branch])).get(branch.id)?.size_bytes ?? assert.fail("The branch has no size.")
        })
        yield* driver.createBranch(branch.id, Option.none())
        assert.strictEqual((yield* of([branch])).size, 0)
        const empty = yield* measured
        assert.isAbove(empty, 5 * mebibyte)

        const endpoint_id = EndpointId.make("ep-main")
        const start = { branch_id: branch.id, endpoint_id, generation: 1, roles: [minted("owner", "read_write")] }
        const { address } = yield* driver.start(start)
        yield* Effect.scoped(
          Effect.flatMap(session(address, "owner"), (sql) =>
            sql.unsafe("create table t as select repeat(md5(n::text), 30) as it from generate_series(1, 20000) n")
          )
        )
        const full = yield* measured
        assert.isAbove(full - empty, 15 * mebibyte)
        yield* driver.stop(endpoint_id)
        assert.isAbove((yield* measured) - empty, 15 * mebibyte)
        assert.deepStrictEqual(yield* driver.running, [])
      }).pipe(Effect.provide(measuring))
    })
  )

  it.live("a branch that cannot be read is left out, and if none can be read, the measurement fails", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataDirectory(0)
      yield* Effect.gen(function* () {
        const driver = yield* ComputeDriver
        yield* driver.createBranch(main, Option.none())
        const branches = join(dataDir, "computes", "branches")
        const [whole, broken] = [join(branches, main), join(branches, "br-broken")]
        // A link to itself: what is below it cannot be opened, even by root.
        yield* Effect.promise(() => symlink(broken, broken))
        const clusters = [broken, whole].map((directory) => clusterAt(directory, "compute"))
        const measure = makeDiskUsage()
        assert.deepStrictEqual(
          (yield* measure(clusters)).map(({ branch_id }) => branch_id),
          [main]
        )
        const failure = yield* Effect.flip(measure([clusterAt(broken, "compute")]))
        assert.include(failure.message, "ELOOP")
      }).pipe(Effect.provide(LocalComputeDriver.layer({ dataDir, binaries: choice })))
    })
  )

  it("a file that goes while it is measured takes no disk, and an unreadable file makes the size unknown", () => {
    const directory = "/branches/br-main"
    const bytes = (code: number | null, err: string, out = "") => bytesIn(directory, { code, err, out })
    const counted = `40\t${directory}\n`
    const vanished = `du: cannot access '${directory}/data/base/5/t3_16391': No such file or directory\n`
    const unreadable = `du: cannot read directory '${directory}/data/base/5': Input/output error\n`
    assert.strictEqual(bytes(0, "", counted), 40 * 1024)
    assert.strictEqual(bytes(1, vanished + vanished, counted), 40 * 1024)
    assert.strictEqual(
      bytes(1, `du: ${directory}/data/base/5/t3_16391: No such file or directory\n`, counted),
      40 * 1024
    )
    assert.strictEqual(bytes(1, `du: cannot access '${directory}': No such file or directory\n`), 0)
    assert.strictEqual(bytes(1, `du: ${directory}: No such file or directory\n`), 0)
    // `nice` may not set a priority, and runs it all the same.
    assert.strictEqual(bytes(0, "nice: cannot set niceness: Permission denied\n", counted), 40 * 1024)
    assert.isUndefined(bytes(1, vanished + unreadable, counted))
    assert.isUndefined(bytes(1, "du: fts_read failed: data/base: No such file or directory\n"))
    assert.isUndefined(bytes(1, vanished))
    assert.isUndefined(bytes(0, ""))
    assert.isUndefined(bytes(127, "nice: 'du': No such file or directory\n"))
    assert.isUndefined(bytes(null, ""))
  })

  it.live("a branch that is gone takes no disk", () =>
    Effect.gen(function* () {
      const directory = join(yield* dataDirectory(0), "br-gone")
      const usage = yield* makeDiskUsage()([clusterAt(directory, "compute")])
      assert.deepStrictEqual(usage, [{ branch_id: BranchId.make("br-gone"), bytes: 0 }])
    })
  )

  it.live("data is not read again while no server has run on it", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataDirectory(0)
      yield* Effect.gen(function* () {
        const driver = yield* ComputeDriver
        yield* driver.createBranch(main, Option.none())
        const cluster = clusterAt(join(dataDir, "computes", "branches", main), "compute")
        const measure = makeDiskUsage()
        const [first] = yield* measure([cluster])
        yield* Effect.promise(() => writeFile(join(cluster.data, "more"), Buffer.alloc(mebibyte, 1)))
        assert.deepStrictEqual((yield* measure([cluster]))[0], first)
        const now = new Date()
        yield* Effect.promise(() =>
          utimes(join(cluster.data, "global", "pg_control"), now, new Date(now.getTime() + 5000))
        )
        const [second] = yield* measure([cluster])
        assert.isAtLeast((second?.bytes ?? 0) - (first?.bytes ?? 0), mebibyte)
        assert.deepStrictEqual(yield* measure([]), [])
      }).pipe(Effect.provide(LocalComputeDriver.layer({ dataDir, binaries: choice })))
    })
  )
})
