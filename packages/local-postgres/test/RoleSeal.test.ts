import { realpathSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { BranchId, ComputeDriver, type ComputeRole, EndpointId } from "@narthex/core"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Context, Duration, Effect, Layer, Option } from "effect"
import { unlocked } from "../../../test/agents/unlocked.ts"
import { type Cluster, clusterAt } from "../src/cluster/Cluster.ts"
import { killPostgres, stopPostgres } from "../src/cluster/PostgresProcess.ts"
import { examine as examineWithin, isSealed, seal } from "../src/computes/RoleSeal.ts"
import { dataDirectory, kinds, minted, session } from "./support.ts"

const branch = BranchId.make("br-sealed")
const endpoint = EndpointId.make("ep-sealed")
const [writer, reader] = [minted("writer", "read_write"), minted("reader", "read_only")]
const both = [writer, reader]

/** A suspend that ends without a seal shows a mistake, and not that the machine is slow. */
const limits = { seal_patience: Duration.seconds(60) }

const examine = (cluster: Cluster) => examineWithin(cluster, both, limits.seal_patience)

/** A branch that runs with `both`. */
const running = Effect.fnUntraced(function* (kind: 0 | 1) {
  const dataDir = yield* dataDirectory(kind)
  const services = yield* Layer.build(LocalComputeDriver.layer({ dataDir, binaries: kinds[kind].choice, limits }))
  const driver = Context.get(services, ComputeDriver)
  yield* driver.createBranch(branch, Option.none())
  let generation = 0
  const start = (roles: ReadonlyArray<ComputeRole>) =>
    Effect.map(
      driver.start({ branch_id: branch, endpoint_id: endpoint, generation: ++generation, roles }),
      ({ address }) => address
    )
  const cluster = clusterAt(realpathSync(join(dataDir, "computes", "branches", branch)), "compute")
  return { address: yield* start(both), cluster, driver, start, suspend: driver.stop(endpoint) }
})

const as = (address: string, role: string, ...statements: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* session(address, role)
    yield* sql.unsafe(unlocked)
    for (const statement of statements) yield* sql.unsafe(statement)
  }).pipe(Effect.scoped)

/** Grows with each transaction that changes something. */
const nextId = (address: string) =>
  Effect.gen(function* () {
    const sql = yield* session(address, "reader")
    const [row] = yield* sql.unsafe<{ id: string }>("SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS id")
    return row?.id
  }).pipe(Effect.scoped)

const chosen = "ALTER ROLE reader PASSWORD 'chosen'"

/** The role has the password of its verifier, and no other. */
const hasItsPassword = Effect.fnUntraced(function* (address: string) {
  yield* as(address, "reader", "SELECT 1")
  yield* Effect.flip(Effect.scoped(session(address, "reader", "chosen")))
})

for (const kind of [0, 1] as const) {
  const { choice, tag } = kinds[kind]
  describe(`sealed roles on the ${choice} Postgres`, { tags: [tag] }, () => {
    it.live("a start with the roles that the branch was suspended with changes nothing in its catalog", () =>
      Effect.gen(function* () {
        const { address, start, suspend } = yield* running(kind)
        yield* as(address, "writer", "CREATE TABLE kept (id int)")
        const before = yield* nextId(address)
        yield* suspend
        const again = yield* start(both)
        assert.strictEqual(yield* nextId(again), before)
        yield* as(again, "writer", "INSERT INTO kept VALUES (1)")
        yield* as(again, "reader", "SELECT FROM kept")
        const later = yield* nextId(again)
        yield* suspend
        assert.strictEqual(yield* nextId(yield* start(both)), later)
      })
    )

    it.live("a start undoes what sessions changed before the suspend: passwords, grants, owners", () =>
      Effect.gen(function* () {
        const { address, start, suspend } = yield* running(kind)
        yield* as(address, "reader", chosen)
        yield* suspend
        const second = yield* start(both)
        yield* hasItsPassword(second)
        yield* as(second, "writer", "CREATE TABLE open (id int)", "GRANT INSERT ON open TO PUBLIC")
        yield* suspend
        const third = yield* start(both)
        yield* Effect.flip(as(third, "reader", "INSERT INTO open VALUES (1)"))
        yield* as(third, "writer", "SET ROLE NONE", "ALTER SCHEMA public OWNER TO writer")
        yield* suspend
        const sql = yield* session(yield* start(both), "writer")
        assert.deepStrictEqual(
          yield* sql`SELECT nspowner::regrole::text AS owner FROM pg_namespace WHERE nspname = 'public'`,
          [{ owner: "pg_database_owner" }]
        )
      })
    )

    it.live("a start with other roles than those of the suspend applies them", () =>
      Effect.gen(function* () {
        const { driver, start, suspend } = yield* running(kind)
        yield* suspend
        const second = yield* start([reader])
        assert.isFalse(yield* driver.needsRoles(branch, [reader]))
        yield* Effect.flip(Effect.scoped(session(second, "writer")))
        yield* suspend
        const third = [minted("reader", "read_only"), minted("third", "read_write")]
        yield* start(third)
        assert.isFalse(yield* driver.needsRoles(branch, third))
      })
    )

    it.live("a change that is committed after the examination leaves no seal", () =>
      Effect.gen(function* () {
        const { address, cluster, start } = yield* running(kind)
        const next = Option.getOrThrow(yield* examine(cluster))
        yield* as(address, "reader", chosen)
        yield* stopPostgres(cluster)
        yield* seal(cluster, both, next)
        assert.isFalse(yield* isSealed(cluster, both))
        yield* hasItsPassword(yield* start(both))
      })
    )

    it.live(
      "a transaction that is open during the examination leaves no seal, whatever was committed since it began",
      () =>
        Effect.gen(function* () {
          const { address, cluster } = yield* running(kind)
          const sql = yield* session(address, "reader")
          yield* sql.unsafe(unlocked)
          yield* sql.unsafe("BEGIN")
          yield* sql.unsafe(chosen)
          yield* as(address, "writer", "CREATE TABLE later (id int)")
          assert.deepStrictEqual(yield* examine(cluster), Option.none())
          yield* sql.unsafe("ROLLBACK")
          assert.isTrue(Option.isSome(yield* examine(cluster)))
        })
    )

    it.live("a server that crashed after the examination leaves no seal", () =>
      Effect.gen(function* () {
        const { cluster, start, suspend } = yield* running(kind)
        yield* suspend
        assert.isTrue(yield* isSealed(cluster, both))
        const address = yield* start(both)
        const next = Option.getOrThrow(yield* examine(cluster))
        yield* as(address, "reader", chosen)
        yield* killPostgres(cluster)
        yield* seal(cluster, both, next)
        assert.isFalse(yield* isSealed(cluster, both))
        yield* hasItsPassword(yield* start(both))
      })
    )

    it.live("a seal that a power failure brings back does not match the data of a later server", () =>
      Effect.gen(function* () {
        const { cluster, start, suspend } = yield* running(kind)
        yield* suspend
        const file = join(cluster.directory, "roles.seal")
        const former = yield* Effect.promise(() => readFile(file))
        const address = yield* start(both)
        yield* as(address, "reader", chosen)
        yield* killPostgres(cluster)
        yield* Effect.promise(() => writeFile(file, former))
        yield* hasItsPassword(yield* start(both))
      })
    )
  })
}
