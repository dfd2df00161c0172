/** Copying a running cluster while its server recycles WAL. */
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { BranchId, ComputeDriver, EndpointId } from "@narthex/core"
import { Effect, Fiber } from "effect"
import { asSupervisor } from "../src/cluster/asSupervisor.ts"
import { type Cluster, clusterAt } from "../src/cluster/Cluster.ts"
import { copyRunning } from "../src/cluster/ClusterBackup.ts"
import { copyInto } from "../src/cluster/ClusterCopy.ts"
import { putData } from "../src/cluster/ClusterData.ts"
import { findPostgresUser } from "../src/machine/PostgresUser.ts"
import { as, BranchCluster, runningBranch, writer } from "./runningBranch.ts"
import { kinds, session } from "./support.ts"

/** More segments than `wal_keep_size` keeps, and a checkpoint after each. */
const recycle = (cluster: Cluster) =>
  asSupervisor(cluster, "postgres", (sql) =>
    Effect.gen(function* () {
      for (let segments = 0; segments < 12; segments++) {
        yield* sql`SELECT pg_switch_wal()::text`
        yield* sql`CHECKPOINT`
      }
    }).pipe(Effect.provide(runningBranch(0)))
  )

const slotsOf = (cluster: Cluster) =>
  asSupervisor(
    cluster,
    "postgres",
    (sql) => sql<{ slots: number }>`SELECT count(*)::int AS slots FROM pg_replication_slots`
  )

/** Copies the cluster to a branch, with `meanwhile` once its files are copied. Returns how many slots each try had. */
const copied = Effect.fnUntraced(function* (
  source: Cluster,
  { branch, slot }: { readonly branch: BranchId; readonly slot: boolean },
  meanwhile: (cluster: Cluster) => Effect.Effect<unknown, unknown>
) {
  const user = yield* findPostgresUser()
  const slots: Array<number> = []
  const copying: typeof copyInto = (from, to, paths) =>
    Effect.gen(function* () {
      yield* copyInto(from, to, paths)
      for (const row of yield* slotsOf(source)) slots.push(row.slots)
      yield* Effect.orDie(meanwhile(source))
    })
  const target = clusterAt(join(source.directory, "..", branch), "compute")
  yield* putData(target, (copy) => copyRunning({ source, copy, user, slot, copying }), Effect.void)
  return slots
})

/** The rows of a table on a copied branch. */
const rowsOn = Effect.fnUntraced(function* (branch: BranchId) {
  const driver = yield* ComputeDriver
  const endpoint_id = EndpointId.make(`ep-${branch}`)
  const { address } = yield* driver.start({ branch_id: branch, endpoint_id, generation: 1, roles: [writer] })
  const sql = yield* session(address, writer.role)
  return yield* sql`SELECT n FROM kept ORDER BY n`
})

const [{ tag }] = kinds

describe("a copy of a running cluster", { tags: [tag] }, () => {
  const kept = as(writer.role, "CREATE TABLE kept (n int)", "INSERT INTO kept VALUES (1)")

  it.live("needs no slot while the WAL is kept", () =>
    Effect.gen(function* () {
      yield* kept
      const branch = BranchId.make("br-quick")
      const slots = yield* copied(yield* BranchCluster, { branch, slot: false }, () => Effect.void)
      assert.deepStrictEqual(slots, [0])
      assert.deepStrictEqual(yield* rowsOn(branch), [{ n: 1 }])
    }).pipe(Effect.provide(runningBranch(0)))
  )

  it.live("is repeated with a slot when its WAL was recycled during the copy, and has every row", () =>
    Effect.gen(function* () {
      yield* kept
      const branch = BranchId.make("br-slow")
      const slots = yield* copied(yield* BranchCluster, { branch, slot: false }, recycle)
      assert.deepStrictEqual(slots, [0, 1])
      assert.deepStrictEqual(yield* rowsOn(branch), [{ n: 1 }])
    }).pipe(Effect.provide(runningBranch(0)))
  )

  it.live("has every row, also if several are made at once while the cluster writes", () =>
    Effect.gen(function* () {
      yield* kept
      const source = yield* BranchCluster
      const writing = asSupervisor(source, "postgres", (sql) =>
        Effect.forever(sql`SELECT pg_logical_emit_message(false, 'test', repeat('x', 1000))::text`)
      )
      const writer = yield* Effect.forkChild(writing)
      const branches = [1, 2, 3].map((n) => BranchId.make(`br-${n}`))
      // The end of each backup follows a new segment, so it lies early in one, and its beginning late in another.
      const next = (cluster: Cluster) => asSupervisor(cluster, "postgres", (sql) => sql`SELECT pg_switch_wal()::text`)
      yield* Effect.forEach(branches, (branch) => copied(source, { branch, slot: false }, next), { concurrency: 3 })
      yield* Fiber.interrupt(writer)
      for (const branch of branches) assert.deepStrictEqual(yield* rowsOn(branch), [{ n: 1 }])
    }).pipe(Effect.provide(runningBranch(0)))
  )

  it.live("has a slot from the beginning if it asks for one", () =>
    Effect.gen(function* () {
      yield* kept
      const source = yield* BranchCluster
      const branch = BranchId.make("br-large")
      const slots = yield* copied(source, { branch, slot: true }, recycle)
      assert.deepStrictEqual(slots, [1])
      assert.deepStrictEqual(yield* rowsOn(branch), [{ n: 1 }])
    }).pipe(Effect.provide(runningBranch(0)))
  )
})
