/** Dumps by `pg_dump` with its default options, restored elsewhere: docs/design/proxy.md P52. */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, layer } from "@effect/vitest"
import { BranchId, ComputeDriver, EndpointId } from "@narthex/core"
import { Effect, Layer, Option, Redacted } from "effect"
import { PostgresServer } from "../../postgres/test/support/PostgresServer.ts"
import { clusterAt } from "../src/cluster/Cluster.ts"
import { giveFormerAccess } from "./formerAccess.ts"
import { as, BranchCluster, runningBranch } from "./runningBranch.ts"
import { kinds, minted, session } from "./support.ts"

const systems = kinds[0].choice === "system" ? 0 : 1

/** Everything that a tenant makes without thinking of rights, and some rights of its own. */
const made = [
  "CREATE SCHEMA app",
  "CREATE TYPE app.mood AS ENUM ('calm', 'loud')",
  "CREATE TYPE app.pair AS (a int, b int)",
  "CREATE DOMAIN app.positive AS int CHECK (VALUE > 0)",
  "CREATE TABLE app.t (id serial PRIMARY KEY, mood app.mood, n app.positive, big bigint GENERATED ALWAYS AS IDENTITY)",
  "INSERT INTO app.t (mood, n) VALUES ('calm', 1), ('loud', 2)",
  "ALTER TABLE app.t ADD more bigserial",
  "CREATE VIEW public.v AS SELECT id, n FROM app.t",
  "CREATE MATERIALIZED VIEW public.m AS SELECT n FROM app.t",
  "CREATE TABLE public.copied AS SELECT n FROM app.t",
  "CREATE SEQUENCE public.counter",
  "CREATE STATISTICS app.both ON mood, n FROM app.t",
  "CREATE FUNCTION public.asking() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM app.t'",
  "CREATE FUNCTION public.writing() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 2'",
  "CREATE AGGREGATE public.total(int) (SFUNC = int4pl, STYPE = int, INITCOND = '0')",
  "CREATE FUNCTION app.fires() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
  "CREATE TRIGGER fires BEFORE INSERT ON app.t FOR EACH ROW EXECUTE FUNCTION app.fires()",
  "CREATE EXTENSION citext",
  "GRANT SELECT ON app.t TO PUBLIC",
  "SELECT lo_create(4711)",
  "RESET ROLE",
  "CREATE SCHEMA own",
  "CREATE TABLE own.t AS SELECT 1 AS n",
  "CREATE FUNCTION own.asking() RETURNS int LANGUAGE sql AS 'SELECT 3'"
]

const run = promisify(execFile)

/** The output of `pg_dump`, which has nothing else of the environment of the test. */
const dumped = (role: string, ...options: ReadonlyArray<string>) =>
  Effect.flatMap(BranchCluster, (cluster) => dumpOf(cluster.run, role, ...options))

const dumpOf = (host: string, role: string, ...options: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    const env = { PATH: process.env["PATH"], PGPASSWORD: role }
    const args = ["--host", host, "--username", role, ...options, "postgres"]
    return (await run("pg_dump", args, { env, maxBuffer: 1e8 })).stdout
  })

/** Restores with psql, which stops at the first error. */
const restored = (text: string, database: string, env: Readonly<Record<string, string>> = {}) =>
  Effect.promise(async () => {
    const options = ["--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--dbname", database]
    const running = run("psql", options, { env: { PATH: process.env["PATH"], ...env }, maxBuffer: 1e8 })
    running.child.stdin?.end(text)
    await running
  })

/** A database on an ordinary server, whose owner has no other right. */
const ordinary = Effect.gen(function* () {
  const { admin, url } = yield* PostgresServer
  yield* admin("DROP DATABASE IF EXISTS shop")
  yield* admin("DROP ROLE IF EXISTS shopkeeper")
  yield* admin("CREATE ROLE shopkeeper LOGIN")
  yield* admin("CREATE DATABASE shop OWNER shopkeeper")
  const owned = new URL(Redacted.value(url("shop")))
  owned.username = "shopkeeper"
  return { owned: owned.toString(), ask: (text: string) => admin(text, url("shop")) }
})

const ordinaryServer = Layer.fresh(PostgresServer.layerOwn)

/** A second project, on the same driver. */
const another = Effect.fnUntraced(function* (name: string) {
  const cluster = yield* BranchCluster
  const driver = yield* ComputeDriver
  const [branch_id, endpoint_id] = [BranchId.make(`br-${name}`), EndpointId.make(`ep-${name}`)]
  yield* driver.createBranch(branch_id, Option.none())
  const roles = [minted("importer", "read_write"), minted("guest", "read_only")]
  yield* driver.start({ branch_id, endpoint_id, generation: 1, roles })
  return clusterAt(join(cluster.directory, "..", branch_id), "compute")
})

const asImporter = (address: string, ...statements: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* session(address, "importer")
    for (const statement of statements) yield* sql.unsafe(statement)
  }).pipe(Effect.scoped)

const lines = (text: string) => text.split("\n").filter((line) => !/^(--|\\(un)?restrict |$)/.test(line))

const tags = ["system-postgres", "psql"]

describe("a dump of a tenant", { tags }, () => {
  layer(Layer.merge(runningBranch(systems), ordinaryServer), { excludeTestServices: true })((it) => {
    it.effect("has no role and no right of the platform, whichever role makes it", () =>
      Effect.gen(function* () {
        yield* as("writer", ...made)
        for (const role of ["writer", "reader"]) {
          // Only the owner of a large object reads it.
          const text = yield* dumped(role, ...(role === "reader" ? ["--no-blobs"] : []))
          assert.notMatch(text, /narthex|writer|reader/)
          assert.deepStrictEqual(
            lines(text).filter((line) => /^(GRANT|REVOKE|ALTER DEFAULT|.* pg_catalog\..* (TO|FROM) )/.test(line)),
            ["REVOKE ALL ON FUNCTION public.writing() FROM PUBLIC;", "GRANT SELECT ON TABLE app.t TO PUBLIC;"]
          )
        }
      })
    )

    it.effect("restores without an error as the owner of a database elsewhere, who then owns everything", () =>
      Effect.gen(function* () {
        const { ask, owned } = yield* ordinary
        const rights = "SELECT count(*)::int AS n FROM pg_proc WHERE has_function_privilege('public', oid, 'EXECUTE')"
        const before = yield* ask(`${rights} AND pronamespace = 'pg_catalog'::regnamespace`)
        yield* restored(yield* dumped("writer"), owned)
        assert.deepStrictEqual(yield* ask(`${rights} AND pronamespace = 'pg_catalog'::regnamespace`), before)
        yield* restored(
          "INSERT INTO app.t (mood, n) VALUES ('calm', 3); DROP TABLE own.t; DROP SCHEMA own CASCADE",
          owned
        )
        yield* restored("SELECT public.asking(), public.writing(); CREATE TABLE public.next (n int)", owned)
      })
    )

    it.effect(
      "restores without an error in another project, where its reader reads everything and writes nothing",
      () =>
        Effect.gen(function* () {
          const target = yield* another("target")
          const env = { PGHOST: target.run, PGUSER: "importer", PGPASSWORD: "importer" }
          yield* restored(yield* dumped("writer"), "postgres", env)
          assert.deepStrictEqual(lines(yield* dumpOf(target.run, "importer")), lines(yield* dumped("writer")))
          const guest = { PGHOST: target.run, PGUSER: "guest", PGPASSWORD: "guest" }
          yield* restored(
            "SELECT n FROM app.t; SELECT n FROM v; SELECT n FROM own.t; SELECT asking()",
            "postgres",
            guest
          )
          const { needsRoles } = yield* ComputeDriver
          const roles = [minted("importer", "read_write"), minted("guest", "read_only")]
          yield* ComputeDriver.use((driver) => driver.applyRoles(BranchId.make("br-target"), roles))
          assert.isFalse(yield* needsRoles(BranchId.make("br-target"), roles))
          assert.deepStrictEqual(lines(yield* dumpOf(target.run, "importer")), lines(yield* dumped("writer")))
        })
    )

    it.effect("has none of the rights of an earlier version that made the branch, once the branch has started", () =>
      Effect.gen(function* () {
        const { start, stop } = yield* ComputeDriver
        const cluster = yield* another("former")
        const [branch_id, endpoint_id] = [BranchId.make("br-former"), EndpointId.make("ep-former")]
        yield* giveFormerAccess(cluster, "importer")
        yield* asImporter(join(cluster.run, ".s.PGSQL.5432"), ...made)
        yield* stop(endpoint_id)
        const roles = [minted("importer", "read_write"), minted("guest", "read_only")]
        const { address } = yield* start({ branch_id, endpoint_id, generation: 2, roles })
        const text = yield* dumpOf(cluster.run, "importer")
        assert.notMatch(text, /narthex|importer|guest|DEFAULT PRIVILEGES/)
        yield* restored(text, (yield* ordinary).owned)
        yield* asImporter(
          address,
          "INSERT INTO app.t (mood, n) VALUES ('calm', 3)",
          "SELECT lo_create(0)",
          "DROP TABLE own.t"
        )
      })
    )
  })
})
