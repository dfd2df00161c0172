import { assert, describe, layer } from "@effect/vitest"
import { ComputeDriver } from "@narthex/core"
import { Effect } from "effect"
import { Address, apply, as, branch, isDenied, open, reader, runningBranch, writer } from "./runningBranch.ts"
import { kinds, minted, session } from "./support.ts"

/** Changes that the owner may make at any time, and that only the next application of roles corrects. */
const laterChanges = [
  [
    "made a function with the rights of its definer, for PUBLIC",
    "CREATE FUNCTION planted() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'",
    "GRANT EXECUTE ON FUNCTION planted() TO PUBLIC"
  ],
  ["granted PUBLIC a right to write", "CREATE TABLE opened (n int)", "GRANT INSERT ON opened TO PUBLIC"],
  ["chosen its own password", "SET ROLE NONE", "ALTER ROLE writer PASSWORD 'chosen'"],
  ["hidden a table from readers", "CREATE TABLE hidden_later (n int)", "REVOKE ALL ON hidden_later FROM narthex_reader"]
] as const

for (const kind of [0, 1] as const) {
  const { choice, tag } = kinds[kind]
  describe(`read-only roles on the ${choice} Postgres`, { tags: [tag] }, () =>
    layer(runningBranch(kind), { excludeTestServices: true })((it) => {
      it.effect("a read-only role reads everything and writes nothing, whatever settings it changes", () =>
        Effect.gen(function* () {
          yield* as("writer", "CREATE SCHEMA app", "CREATE TABLE app.t AS SELECT 1 AS n", "CREATE SEQUENCE app.s")
          assert.deepStrictEqual(yield* as("reader", "SELECT n FROM app.t"), [{ n: 1 }])
          for (const write of [
            "INSERT INTO app.t VALUES (2)",
            "UPDATE app.t SET n = 2",
            "DELETE FROM app.t",
            "TRUNCATE app.t",
            "SELECT nextval('app.s')",
            "SELECT n FROM app.t FOR UPDATE",
            "CREATE TABLE public.mine (n int)",
            "CREATE TEMP TABLE mine (n int)",
            "CREATE SCHEMA mine",
            "SELECT lo_create(0)",
            "SELECT lo_from_bytea(0, 'x')",
            "SELECT pg_advisory_lock(1)",
            "SELECT pg_try_advisory_xact_lock_shared(1, 2)",
            "SET ROLE narthex_writer",
            "SET ROLE narthex"
          ]) {
            yield* isDenied("reader", write)
          }
        })
      )

      it.effect("a read-only role reads what writers create later, in new schemas and under their own names", () =>
        Effect.gen(function* () {
          yield* as(
            "writer",
            "CREATE SCHEMA later",
            "CREATE TABLE later.t AS SELECT 1 AS n",
            "CREATE VIEW later.v AS SELECT n FROM later.t",
            "CREATE MATERIALIZED VIEW later.m AS SELECT n FROM later.t",
            "RESET ROLE",
            "CREATE SCHEMA own",
            "CREATE TABLE own.t AS SELECT 1 AS n"
          )
          for (const relation of ["later.t", "later.v", "later.m", "own.t"])
            assert.deepStrictEqual(yield* as("reader", `SELECT n FROM ${relation}`), [{ n: 1 }])
        })
      )

      it.effect("a read-only role reads what was not readable for its group once roles are applied again", () =>
        Effect.gen(function* () {
          yield* as("writer", "CREATE TABLE hidden AS SELECT 1 AS n", "REVOKE SELECT ON hidden FROM narthex_reader")
          yield* isDenied("reader", "SELECT n FROM hidden")
          yield* apply(writer, reader)
          assert.deepStrictEqual(yield* as("reader", "SELECT n FROM hidden"), [{ n: 1 }])
          yield* as("writer", "CREATE TABLE seen AS SELECT 1 AS n")
          assert.deepStrictEqual(yield* as("reader", "SELECT n FROM seen"), [{ n: 1 }])
        })
      )

      it.effect("readers execute a new function, if it has no rights of its definer", () =>
        Effect.gen(function* () {
          const body = "RETURNS int LANGUAGE sql"
          yield* apply(writer, reader, minted("other", "read_write"))
          yield* as(
            "writer",
            `CREATE FUNCTION asking() ${body} AS 'SELECT 1'`,
            `CREATE FUNCTION writing() ${body} SECURITY DEFINER AS 'SELECT 2'`,
            "SET ROLE NONE",
            `CREATE FUNCTION own() ${body} AS 'SELECT 3'`
          )
          for (const name of ["asking", "writing", "own"]) yield* as("other", `SELECT ${name}()`)
          yield* as("reader", "SELECT asking(), own()")
          yield* isDenied("reader", "SELECT writing()")
          yield* as("writer", "ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO PUBLIC")
          yield* as("writer", `CREATE FUNCTION later() ${body} SECURITY DEFINER AS 'SELECT 4'`)
          yield* isDenied("reader", "SELECT later()")
          yield* as("writer", "ALTER FUNCTION asking() SECURITY DEFINER")
          yield* isDenied("reader", "SELECT asking()")
        })
      )

      for (const [change, ...statements] of laterChanges)
        it.effect(`a branch needs its roles applied once a session has ${change}`, () =>
          Effect.gen(function* () {
            const { needsRoles } = yield* ComputeDriver
            yield* apply(writer, reader)
            assert.isFalse(yield* needsRoles(branch, [reader, writer]))
            yield* as("writer", ...statements)
            assert.isTrue(yield* needsRoles(branch, [reader, writer]))
            yield* apply(writer, reader)
            assert.isFalse(yield* needsRoles(branch, [reader, writer]))
          })
        )

      it.effect("no minted role reads the verifiers of others", () =>
        Effect.gen(function* () {
          for (const role of ["reader", "writer"]) {
            yield* isDenied(role, "SELECT rolpassword FROM pg_authid")
            yield* isDenied(role, "RESET ROLE", "SELECT rolpassword FROM pg_authid")
          }
        })
      )

      it.effect("rights to write that PUBLIC or a reader was granted end when roles are applied", () =>
        Effect.gen(function* () {
          yield* apply(writer, reader, minted("second", "read_write"))
          yield* as(
            "writer",
            "CREATE TABLE granted (n int, m int)",
            "GRANT ALL ON granted TO PUBLIC",
            "GRANT ALL ON granted TO narthex_reader",
            "CREATE TABLE columns (n int, m int)",
            "GRANT INSERT (n), UPDATE (m) ON columns TO reader",
            "CREATE SEQUENCE counter",
            "GRANT USAGE ON SEQUENCE counter TO PUBLIC",
            "CREATE SCHEMA open",
            "GRANT ALL ON SCHEMA open TO PUBLIC",
            "ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC",
            "ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO PUBLIC",
            "CREATE FUNCTION write() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'INSERT INTO granted VALUES (1) RETURNING n'",
            "GRANT EXECUTE ON FUNCTION write() TO PUBLIC",
            "RESET ROLE",
            "CREATE TABLE mine (n int)",
            "GRANT ALL ON mine TO PUBLIC",
            "CREATE TABLE handed (n int)",
            "GRANT ALL ON handed TO second WITH GRANT OPTION"
          )
          yield* as("second", "RESET ROLE", "GRANT ALL ON handed TO PUBLIC")
          yield* as("reader", "INSERT INTO granted VALUES (1)", "INSERT INTO handed VALUES (1)", "SELECT write()")
          yield* apply(writer, reader, minted("second", "read_write"))
          yield* as("writer", "CREATE TABLE next (n int)")
          for (const write of [
            "INSERT INTO granted VALUES (1)",
            "TRUNCATE granted",
            "INSERT INTO columns (n) VALUES (1)",
            "UPDATE columns SET m = 1",
            "SELECT nextval('counter')",
            "INSERT INTO handed VALUES (1)",
            "CREATE TABLE open.mine (n int)",
            "INSERT INTO next VALUES (1)",
            "INSERT INTO mine VALUES (1)",
            "SELECT write()"
          ])
            yield* isDenied("reader", write)
          yield* as("reader", "SELECT FROM granted", "SELECT FROM handed", "SELECT FROM next")
          yield* as("writer", "SELECT write()")
          yield* as("second", "SELECT write()", "RESET ROLE", "INSERT INTO handed VALUES (2)")
        })
      )

      it.effect(
        "a reader that a writer made a member of itself loses the membership, and the writer keeps its sessions",
        () =>
          Effect.gen(function* () {
            const address = yield* Address
            const kept = yield* session(address, "writer")
            const gained = yield* open("reader")
            // Postgres 15 lets a role grant itself, later versions do not.
            yield* Effect.option(as("writer", "RESET ROLE", "GRANT writer TO reader"))
            yield* apply(writer, reader)
            yield* isDenied("reader", "SET ROLE writer")
            yield* kept.unsafe("SELECT 1")
            yield* Effect.ignore(gained.unsafe("SET ROLE writer"))
            yield* Effect.flip(gained.unsafe("CREATE TABLE gained (n int)"))
          }).pipe(Effect.scoped)
      )
    })
  )
}
