import { assert, describe, layer } from "@effect/vitest"
import { BranchId, ComputeDriver, type ComputeRole, EndpointId } from "@narthex/core"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { dataDirectory, kinds, minted, session } from "./support.ts"

const branch = BranchId.make("br-roles")
const writer = minted("writer", "read_write")
const reader = minted("reader", "read_only")

/** Starts a branch; returns the address of its compute. */
class Address extends Context.Service<Address, string>()("test/Address") {}

const runningBranch = (kind: 0 | 1) =>
  Layer.effect(
    Address,
    Effect.gen(function* () {
      const driver = yield* ComputeDriver
      yield* driver.createBranch(branch, Option.none())
      const start = {
        branch_id: branch,
        endpoint_id: EndpointId.make("ep-roles"),
        generation: 1,
        roles: [writer, reader]
      }
      return (yield* driver.start(start)).address
    })
  ).pipe(
    Layer.provideMerge(
      Layer.unwrap(
        Effect.map(dataDirectory(kind), (dataDir) =>
          LocalComputeDriver.layer({ dataDir, binaries: kinds[kind].choice })
        )
      )
    )
  )

/** Runs statements in one session. */
const as = (role: string, ...statements: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* session(yield* Address, role)
    let rows: ReadonlyArray<object> = []
    for (const statement of statements) rows = yield* sql.unsafe<object>(statement)
    return rows
  }).pipe(Effect.scoped)

/** The last statement must fail for a missing privilege (and no other reason); those before it must succeed. */
const isDenied = (role: string, ...statements: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* session(yield* Address, role)
    for (const statement of statements.slice(0, -1)) yield* sql.unsafe(statement)
    const error = yield* Effect.flip(sql.unsafe(statements.at(-1) ?? ""))
    assert.strictEqual(error.reason._tag, "AuthorizationError", statements.at(-1))
  }).pipe(Effect.scoped)

const apply = (...roles: ReadonlyArray<ComputeRole>) => ComputeDriver.use((driver) => driver.applyRoles(branch, roles))

for (const kind of [0, 1] as const) {
  const { choice, tag } = kinds[kind]
  describe(`roles on the ${choice} Postgres`, { tags: [tag] }, () =>
    layer(runningBranch(kind), { excludeTestServices: true })((it) => {
      it.effect("a read-only role reads everything and writes nothing, whatever settings it changes", () =>
        Effect.gen(function* () {
          yield* as("writer", "CREATE SCHEMA app", "CREATE TABLE app.t AS SELECT 1 AS n", "CREATE SEQUENCE app.s")
          assert.deepStrictEqual(yield* as("reader", "SELECT n FROM app.t"), [{ n: 1 }])
          const freed = "SET default_transaction_read_only = off"
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
            "SET ROLE narthex_writer",
            "SET ROLE narthex"
          ]) {
            yield* isDenied("reader", freed, write)
          }
        })
      )

      it.effect("a read-write role cannot leave the database: no server file, no program, no C function", () =>
        Effect.gen(function* () {
          for (const escape of [
            "SELECT pg_read_file('PG_VERSION')",
            "SELECT pg_ls_dir('.')",
            "SELECT lo_import('/etc/passwd')",
            "CREATE FUNCTION f() RETURNS int LANGUAGE c AS 'libc', 'getpid'",
            "LOAD 'auto_explain'",
            "ALTER SYSTEM SET archive_command = 'true'",
            "CREATE ROLE more",
            "CREATE DATABASE more",
            "ALTER ROLE writer SUPERUSER",
            "GRANT pg_read_server_files TO writer",
            "SET SESSION AUTHORIZATION narthex",
            "SELECT rolpassword FROM pg_authid"
          ]) {
            yield* isDenied("writer", escape)
            yield* isDenied("writer", "RESET ROLE", escape)
          }
          yield* as("writer", "CREATE TABLE lines (line text)")
          yield* isDenied("writer", "COPY lines FROM '/etc/passwd'")
          yield* isDenied("writer", "COPY lines FROM PROGRAM 'id'")
          yield* isDenied("writer", "COPY lines TO PROGRAM 'cat'")
        })
      )

      it.effect("a user's function that shadows a system function is not called by the supervisor", () =>
        Effect.gen(function* () {
          for (const [name, types] of [
            ["pg_terminate_backend", "int, int"],
            ["pg_get_userbyid", "int"],
            ["format", "text, regprocedure"]
          ]) {
            const trap = `CREATE FUNCTION public.${name}(${types}) RETURNS text LANGUAGE plpgsql AS
            $$ BEGIN ALTER ROLE writer SUPERUSER; RETURN ''; END $$`
            yield* as("writer", trap)
          }
          yield* apply(writer, reader, minted("bait", "read_write"))
          yield* Effect.scoped(
            Effect.gen(function* () {
              yield* session(yield* Address, "bait")
              yield* apply(writer, reader)
            })
          )
          assert.deepStrictEqual(yield* as("reader", "SELECT FROM pg_roles WHERE rolname = 'writer' AND rolsuper"), [])
        })
      )

      it.effect("no minted role has a right of the server itself", () =>
        Effect.gen(function* () {
          const rows = yield* as(
            "reader",
            `SELECT rolname FROM pg_roles WHERE rolname IN ('writer', 'reader', 'narthex_writer') AND (
             rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls
             OR pg_has_role(oid, 'pg_execute_server_program', 'member')
             OR pg_has_role(oid, 'pg_read_server_files', 'member')
             OR pg_has_role(oid, 'pg_write_server_files', 'member'))`
          )
          assert.deepStrictEqual(rows, [])
        })
      )

      it.effect("what one minted role creates belongs to the next, even when created under its own name", () =>
        Effect.gen(function* () {
          yield* as("writer", "CREATE TABLE shared AS SELECT 1 AS n", "RESET ROLE", "CREATE TABLE own AS SELECT 1 AS n")
          yield* apply(minted("next", "read_write"), reader)
          yield* as("next", "ALTER TABLE shared ADD m int", "INSERT INTO own VALUES (2)", "DROP TABLE own")
          yield* apply(writer, reader)
        })
      )

      it.effect("a dropped role loses its sessions and cannot log in again; a kept role keeps its sessions", () =>
        Effect.gen(function* () {
          const address = yield* Address
          yield* apply(writer, reader, minted("leaver", "read_write"))
          const staying = yield* session(address, "reader")
          const leaving = yield* session(address, "leaver")
          yield* leaving.unsafe("CREATE TEMP TABLE held (n int)")
          yield* apply(writer, reader)
          yield* apply(writer, reader)
          yield* Effect.flip(leaving.unsafe("SELECT 1"))
          yield* staying.unsafe("SELECT 1")
          yield* Effect.flip(as("leaver", "SELECT 1"))
        })
      )

      it.effect("a role that becomes read-only loses its sessions and its right to write", () =>
        Effect.gen(function* () {
          yield* apply(writer, reader, minted("turning", "read_write"))
          const before = yield* session(yield* Address, "turning")
          yield* before.unsafe("CREATE TABLE turned AS SELECT 1 AS n")
          yield* apply(writer, reader, minted("turning", "read_only"))
          yield* Effect.flip(before.unsafe("SELECT 1"))
          assert.deepStrictEqual(yield* as("turning", "SELECT n FROM turned"), [{ n: 1 }])
          yield* isDenied("turning", "INSERT INTO turned VALUES (2)")
          yield* apply(writer, reader)
        })
      )

      it.effect("a password that a role set for itself is replaced when roles are applied again", () =>
        Effect.gen(function* () {
          const address = yield* Address
          yield* as("reader", "ALTER ROLE reader PASSWORD 'chosen'")
          yield* Effect.scoped(session(address, "reader", "chosen"))
          yield* apply(writer, reader)
          yield* Effect.flip(Effect.scoped(session(address, "reader", "chosen")))
          yield* as("reader", "SELECT 1")
        })
      )

      it.effect("a role can log in until it expires", () =>
        Effect.gen(function* () {
          const until = (text: string) => ({ ...reader, expires_at: Option.some(DateTime.makeUnsafe(text)) })
          yield* apply(writer, until("2001-01-01T00:00:00Z"))
          yield* Effect.flip(as("reader", "SELECT 1"))
          yield* apply(writer, until("2999-01-01T00:00:00Z"))
          yield* as("reader", "SELECT 1")
        })
      )

      it.effect("no client can log in as the supervisor, without a password, or to another database", () =>
        Effect.gen(function* () {
          const address = yield* Address
          yield* Effect.flip(Effect.scoped(session(address, "narthex_writer", "")))
          yield* Effect.flip(Effect.scoped(session(address, "writer", "wrong")))
          yield* isDenied("writer", "SELECT pg_reload_conf()")
        })
      )

      it.effect("a name or a verifier of another form is refused and nothing is applied", () =>
        Effect.gen(function* () {
          for (const bad of [
            minted("narthex", "read_write"),
            minted("pg_monitor", "read_only"),
            minted("x".repeat(64), "read_only"),
            { ...reader, verifier: "plain" },
            { ...reader, verifier: "SCRAM-SHA-256$1:a$b:c'; DROP ROLE reader; --" }
          ]) {
            const error = yield* Effect.flip(apply(writer, bad))
            assert.isFalse(error.retryable)
          }
          yield* as("reader", "SELECT 1")
        })
      )
    })
  )
}
