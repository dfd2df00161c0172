import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { BranchId, ComputeDriver, type ComputeFailed, EndpointId, StorageError, TenantDisk } from "@narthex/core"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Context, Deferred, Effect, Fiber, Layer, Option, References, Result, Schema } from "effect"
import { asSupervisor } from "../src/cluster/asSupervisor.ts"
import { clusterAt } from "../src/cluster/Cluster.ts"
import { asComputeFailed } from "../src/computes/asComputeFailed.ts"
import { diskRoom, mayTake } from "../src/computes/copyRoom.ts"
import { DiskShareTaken, LocalPostgresError } from "../src/machine/LocalPostgresError.ts"
import { postgresPrograms } from "../testing/postgresPrograms.ts"
import { closedDirectory, dataDirectory, kinds } from "./support.ts"

const [{ choice, tag }] = kinds
const parent = BranchId.make("br-parent")
const child = BranchId.make("br-child")
const first = { branch_id: parent, endpoint_id: EndpointId.make("ep-parent"), generation: 1, roles: [] }

const leftover = "FATAL:  pre-existing shared memory block (key 5, ID 3) is still in use"

/** The Postgres programs, of which `postgres` says `leftover` and ends once for each file in `refusals`. */
const refusing = Effect.acquireRelease(
  Effect.promise(async () => {
    const { directory } = await postgresPrograms()
    const own = await mkdtemp(join(tmpdir(), "narthex-refusing-"))
    const refusals = join(own, "refusals")
    await mkdir(refusals)
    for (const path of [own, refusals]) await chmod(path, 0o777)
    for (const name of await readdir(directory))
      if (name !== "postgres") await symlink(join(directory, name), join(own, name))
    const lines = [
      "#!/bin/sh",
      `refusal=$(ls ${refusals} | head -n 1)`,
      `if [ -z "$refusal" ]; then exec ${join(directory, "postgres")} "$@"; fi`,
      `rm ${refusals}/"$refusal"`,
      `echo "${leftover}" >&2`,
      "exit 1"
    ]
    await writeFile(join(own, "postgres"), lines.join("\n"), { mode: 0o755 })
    return { binaries: own, refusals }
  }),
  ({ binaries }) => Effect.promise(() => rm(binaries, { recursive: true }))
)

/** A directory with a file of a megabyte. */
const megabyte = Effect.tap(closedDirectory, (source) =>
  Effect.promise(() => writeFile(join(source, "data"), Buffer.alloc(1_000_000, 1)))
)

/** The tenant reads a sentence; the operator's log gets what the machine said. */
const isForTenants = ({ detail, reason }: ComputeFailed, dataDir: string) => {
  assert.notInclude(reason, "/")
  assert.match(reason, /^[A-Z][^\n]*\.$/)
  assert.include(detail ?? "", dataDir)
}

describe("failures of local computes", { tags: [tag] }, () => {
  it.live("a copy that needs a slot waits while every slot of its parent is in use", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataDirectory(0)
      const limits = { copied_without_slot: 0 }
      const built = yield* Layer.build(LocalComputeDriver.layer({ dataDir, binaries: choice, limits }))
      const driver = Context.get(built, ComputeDriver)
      yield* driver.createBranch(parent, Option.none())
      yield* driver.start(first)
      const cluster = clusterAt(join(dataDir, "computes", "branches", parent), "compute")
      const failure = yield* asSupervisor(cluster, "postgres", (sql) =>
        Effect.gen(function* () {
          for (let n = 0; n < 8; n++) {
            yield* sql`SELECT pg_create_physical_replication_slot(${`held_${n}`}, true, true)::text`
          }
          const failed = yield* Effect.flip(driver.createBranch(child, Option.some(parent)))
          // The end of the session would free them, a moment later.
          yield* sql`SELECT pg_drop_replication_slot(slot_name)::text FROM pg_replication_slots WHERE temporary`
          return failed
        })
      )
      assert.deepStrictEqual([failure.busy, failure.retryable], [true, true])
      isForTenants(failure, dataDir)
      yield* driver.createBranch(child, Option.some(parent))
    })
  )

  it.live(
    "with too little disk space no branch is made and no compute starts, and the directory of clusters can be chosen",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* dataDirectory(0)
        const computeDir = join(yield* closedDirectory, "computes")
        const full = LocalComputeDriver.layer({
          dataDir,
          computeDir,
          binaries: choice,
          limits: { disk_reserve: 2 ** 52 }
        })
        const failure = yield* ComputeDriver.use((driver) =>
          Effect.flip(driver.createBranch(parent, Option.none()))
        ).pipe(Effect.provide(full))
        assert.strictEqual(failure.reason, "There is not enough free disk space.")
        isForTenants(failure, dataDir)
        yield* ComputeDriver.use((driver) =>
          Effect.gen(function* () {
            yield* driver.createBranch(parent, Option.none())
            yield* driver.start(first)
            yield* asSupervisor(
              clusterAt(join(computeDir, "branches", parent), "compute"),
              "postgres",
              (sql) => sql`SELECT 1`
            )
          })
        ).pipe(Effect.provide(LocalComputeDriver.layer({ dataDir, computeDir, binaries: choice })))
        const refused = yield* ComputeDriver.use((driver) => Effect.flip(driver.start(first))).pipe(
          Effect.provide(full),
          Effect.provideService(References.MinimumLogLevel, "None")
        )
        assert.strictEqual(refused.reason, "There is not enough free disk space to start a compute.")
        assert.isTrue(refused.busy)
      })
  )

  it.live("a copy waits while others take the disk space that it needs", () =>
    Effect.gen(function* () {
      const source = yield* megabyte
      const space = Effect.succeed({ size: 2_500_000, free: 2_500_000 })
      const withRoom = diskRoom({ space, reserve: 1_000_000, share: 4 })
      const [begun, end] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const copy = Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(end))
      const first = yield* Effect.forkChild(withRoom(source, () => copy))
      yield* Deferred.await(begun)
      assert.strictEqual((yield* Effect.flip(withRoom(source, () => Effect.void)))._tag, "NoRoomNow")
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.join(first)
      yield* withRoom(source, () => Effect.void)
    })
  )

  it.live("the last part of a disk is for organizations that have little on it", () =>
    Effect.gen(function* () {
      const source = yield* megabyte
      const asked = (free: number, taken: Effect.Effect<number, StorageError>) => {
        const space = Effect.succeed({ size: 100_000_000, free })
        const copy = diskRoom({ space, reserve: 0, share: 4 })(source, () => Effect.void)
        return Effect.result(Effect.provideService(copy, TenantDisk, taken))
      }
      const tagOf = (asked: Result.Result<void, { readonly _tag: string }>) =>
        Result.isFailure(asked) ? asked.failure._tag : "made"
      const of = Effect.fnUntraced(function* (...asking: Parameters<typeof asked>) {
        return tagOf(yield* asked(...asking))
      })
      // More than a fifth is left.
      assert.strictEqual(yield* of(22_000_000, Effect.succeed(78_000_000)), "made")
      assert.strictEqual(yield* of(21_000_000, Effect.succeed(80_500_000)), "DiskShareTaken")
      assert.strictEqual(yield* of(21_000_000, Effect.succeed(10_000_000)), "made")
      // The store does not answer, or not in time.
      const failure = new StorageError({ operation: "test", cause: "test" })
      assert.strictEqual(yield* of(11_100_000, failure), "NoRoomNow")
      assert.strictEqual(yield* of(11_100_000, Effect.never), "NoRoomNow")
      assert.strictEqual(yield* of(90_000_000, failure), "made")
    })
  )

  it.live("a copy that others under way leave no share for waits for them", () =>
    Effect.gen(function* () {
      const source = yield* megabyte
      const space = Effect.succeed({ size: 100_000_000, free: 3_500_000 })
      const withRoom = diskRoom({ space, reserve: 0, share: 4 })
      const own = withRoom(source, () => Effect.void).pipe(Effect.provideService(TenantDisk, Effect.succeed(8_000_000)))
      yield* own
      const [begun, end] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const copy = Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(end))
      const other = yield* Effect.forkChild(withRoom(source, () => copy))
      yield* Deferred.await(begun)
      assert.strictEqual((yield* Effect.flip(own))._tag, "NoRoomNow")
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.join(other)
      yield* own
    })
  )

  it("an organization that takes its share of the disk reads a sentence, and the operator the numbers", () => {
    const refused = Effect.runSync(Effect.flip(asComputeFailed(Effect.fail(new DiskShareTaken({ taken: 5, left: 1 })))))
    assert.deepStrictEqual([refused.busy, refused.retryable], [undefined, true])
    assert.notMatch(refused.reason, /\d/)
    assert.include(refused.detail ?? "", "5 bytes")
  })

  const amounts = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10_000 }))

  it.effect.prop(
    "an organization without branches may take four fifths of what three others have left of a disk",
    [Schema.Array(Schema.Tuple([Schema.Literals([0, 1, 2]), amounts]))],
    ([asked]) =>
      Effect.sync(() => {
        const disk = { size: 10_000, share: 4 }
        const taken = [0, 0, 0]
        let left = disk.size
        for (const [org, bytes] of asked) {
          const wanted = (taken[org] ?? 0) + bytes
          if (bytes > left || !mayTake(wanted, left - bytes, disk)) continue
          taken[org] = wanted
          left -= bytes
        }
        assert.isAtLeast(left, Math.floor(disk.size / 5 ** 3))
        assert.isTrue(mayTake(Math.floor((4 * left) / 5), left - Math.floor((4 * left) / 5), disk))
      })
  )

  it.live("a start waits for processes of the server before, which the kernel is still taking down", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataDirectory(0)
      const { binaries, refusals } = yield* refusing
      const start = Effect.gen(function* () {
        const driver = yield* ComputeDriver
        yield* driver.createBranch(parent, Option.none())
        for (const name of ["first", "second"]) yield* Effect.promise(() => writeFile(join(refusals, name), ""))
        yield* driver.start(first)
        assert.isEmpty(yield* Effect.promise(() => readdir(refusals)))
        yield* driver.stop(first.endpoint_id)
      })
      yield* Effect.provide(start, LocalComputeDriver.layer({ dataDir, binaries }))
    })
  )

  for (const sqlstate of ["57P01", "57P02", "57P03"])
    it.effect(`work that meets a restart of its server waits, and is no failure: ${sqlstate}`, () =>
      Effect.gen(function* () {
        const met = new LocalPostgresError({ operation: "A query", reason: "terminating connection", sqlstate })
        const failure = yield* Effect.flip(asComputeFailed(Effect.fail(met)))
        assert.deepStrictEqual([failure.busy, failure.retryable], [true, true])
      })
    )

  it.live("a server that cannot start says why to the operator only", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataDirectory(0)
      const start = Effect.gen(function* () {
        const driver = yield* ComputeDriver
        yield* driver.createBranch(parent, Option.none())
        const cluster = clusterAt(join(dataDir, "computes", "branches", parent), "compute")
        yield* Effect.promise(() => rm(join(cluster.data, "global", "pg_control")))
        return yield* Effect.flip(driver.start(first))
      })
      const failure = yield* Effect.provide(start, LocalComputeDriver.layer({ dataDir, binaries: choice }))
      assert.notInclude(failure.reason, "/")
      assert.include(failure.detail ?? "", "pg_control")
    })
  )
})
