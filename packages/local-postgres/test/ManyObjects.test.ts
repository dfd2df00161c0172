/** Rights that are withdrawn from more objects than one transaction has locks for: docs/design/proxy.md P24. */
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { BranchId, ComputeDriver, EndpointId } from "@narthex/core"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Duration, Effect, Option } from "effect"
import { asSupervisor } from "../src/cluster/asSupervisor.ts"
import { clusterAt } from "../src/cluster/Cluster.ts"
import { dataDirectory, kinds, minted, session } from "./support.ts"

const [kind] = kinds
const branch_id = BranchId.make("br-many")
const endpoint_id = EndpointId.make("ep-many")

/** More than `max_locks_per_transaction` times the sessions of a compute, and than one batch. */
const [views, functions] = [3_000, 1_500]

describe("a branch with many objects", { tags: [kind.tag] }, () => {
  it.live(
    "starts when its writer's rights have ended, and the views of the writer lock with the rights of their caller",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* dataDirectory(0)
        const cluster = clusterAt(join(dataDir, "computes", "branches", branch_id), "compute")
        const limits = { revocation_within: Duration.minutes(2), comparison_within: Duration.minutes(2) }
        yield* Effect.gen(function* () {
          const driver = yield* ComputeDriver
          const start = (generation: number, role: string) =>
            driver.start({ branch_id, endpoint_id, generation, roles: [minted(role, "read_write")] })
          yield* driver.createBranch(branch_id, Option.none())
          yield* start(1, "first")
          yield* asSupervisor(cluster, "postgres", (sql) => sql`ALTER SYSTEM SET max_locks_per_transaction = 10`)
          yield* driver.stop(endpoint_id)
          const { address } = yield* start(2, "first")
          yield* Effect.gen(function* () {
            const sql = yield* session(address, "first")
            yield* sql.unsafe("CREATE TABLE kept (n int)")
            // Made under the name of the role, not as the owner of the database.
            yield* sql.unsafe("RESET ROLE")
            for (let from = 1; from <= functions; from += 250)
              yield* sql.unsafe(`DO $$ BEGIN FOR n IN ${from}..${from + 249} LOOP
              EXECUTE format('CREATE FUNCTION public.defined_%s() RETURNS int LANGUAGE sql SECURITY DEFINER AS %L', n, 'SELECT 1');
              EXECUTE format('GRANT EXECUTE ON FUNCTION public.defined_%s() TO PUBLIC', n); END LOOP; END $$`)
            yield* sql.unsafe("SET ROLE pg_database_owner")
            for (let from = 1; from <= views; from += 250)
              yield* sql.unsafe(`DO $$ BEGIN FOR n IN ${from}..${from + 249} LOOP
              EXECUTE format('CREATE VIEW locking_%s AS SELECT * FROM kept FOR UPDATE', n); END LOOP; END $$`)
          }).pipe(Effect.scoped)
          yield* driver.stop(endpoint_id)
          const again = yield* start(3, "second")
          const sql = yield* session(again.address, "second")
          const [found] = yield* sql.unsafe<{ readonly n: number }>(
            "SELECT count(*)::int AS n FROM pg_class WHERE relkind = 'v' AND 'security_invoker=true' = ANY (reloptions)"
          )
          assert.strictEqual(found?.n, views)
          const [rights] = yield* sql.unsafe<{ readonly writers: number; readonly others: number }>(
            `SELECT count(*) FILTER (WHERE has_function_privilege('narthex_writer', oid, 'EXECUTE'))::int AS writers,
            count(*) FILTER (WHERE has_function_privilege('narthex_reader', oid, 'EXECUTE'))::int AS others
          FROM pg_proc WHERE proname LIKE 'defined_%'`
          )
          assert.deepStrictEqual({ ...rights }, { writers: functions, others: 0 })
        }).pipe(Effect.scoped, Effect.provide(LocalComputeDriver.layer({ dataDir, binaries: kind.choice, limits })))
      })
  )
})
