/** Holds docs/design/proxy.md P29. */
import { assert, describe, layer } from "@effect/vitest"
import { mintedRoles, retire } from "@narthex/compute-roles"
import { DateTime, Effect, Option } from "effect"
import { asSupervisor } from "../src/cluster/asSupervisor.ts"
import { Address, apply, as, BranchCluster, isDenied, open, reader, runningBranch, writer } from "./runningBranch.ts"
import { kinds, minted, session } from "./support.ts"

for (const kind of [0, 1] as const) {
  const { choice, tag } = kinds[kind]
  describe(`roles on the ${choice} Postgres`, { tags: [tag] }, () =>
    layer(runningBranch(kind), { excludeTestServices: true })((it) => {
      it.effect("an open change of a kept role to itself holds up no other role, and its session stays", () =>
        Effect.gen(function* () {
          const address = yield* Address
          const sql = yield* open("reader")
          yield* sql.unsafe("BEGIN")
          yield* sql.unsafe("ALTER ROLE reader PASSWORD 'chosen'")
          yield* apply(writer, reader, minted("newcomer", "read_write"))
          yield* as("newcomer", "SELECT 1")
          yield* sql.unsafe("COMMIT")
          yield* apply(writer, reader)
          yield* Effect.flip(Effect.scoped(session(address, "reader", "chosen")))
        }).pipe(Effect.scoped)
      )

      it.effect("a role has a limit of sessions and of temporary files, which it cannot raise", () =>
        Effect.gen(function* () {
          const sessions =
            (yield* as("writer", "SELECT 1 WHERE current_setting('server_version_num')::int < 160000")).length === 1
              ? 4
              : 20
          assert.deepStrictEqual(
            yield* as("writer", "SELECT rolname, rolconnlimit FROM pg_roles WHERE rolconnlimit > 0 ORDER BY rolname"),
            [
              { rolname: "reader", rolconnlimit: sessions },
              { rolname: "writer", rolconnlimit: 80 }
            ]
          )
          yield* as("reader", "ALTER ROLE reader RESET ALL")
          for (const [role, temp_file_limit] of [
            ["reader", "128MB"],
            ["writer", "1GB"]
          ] as const) {
            assert.deepStrictEqual(yield* as(role, "SHOW temp_file_limit"), [{ temp_file_limit }])
            yield* isDenied(role, "SET temp_file_limit = -1")
            yield* isDenied(role, "RESET ROLE", `ALTER ROLE ${role} CONNECTION LIMIT -1`)
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

      it.effect("objects of one minted role belong to the next, even when created under its own name", () =>
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

      it.effect("a session of a role whose retirement was interrupted ends when roles are applied again", () =>
        Effect.gen(function* () {
          yield* apply(writer, minted("leaver", "read_only"), reader)
          const leaving = yield* open("leaver")
          const cluster = yield* BranchCluster
          const [leaver] = yield* asSupervisor(cluster, "postgres", mintedRoles).pipe(
            Effect.map((roles) => roles.filter(({ name }) => name === "leaver"))
          )
          // The state after a call that fails once the roles have lost their rights.
          if (leaver !== undefined) yield* asSupervisor(cluster, "postgres", (sql) => retire(sql, leaver))
          yield* leaving.unsafe("SELECT 1")
          yield* apply(writer, reader)
          yield* Effect.flip(leaving.unsafe("SELECT 1"))
        }).pipe(Effect.scoped)
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

      it.effect("a session whose locks hold up a revocation ends, and the other sessions go on", () =>
        Effect.gen(function* () {
          yield* apply(writer, minted("leaver", "read_write"), reader)
          yield* as("writer", "CREATE TABLE IF NOT EXISTS locked (n int)")
          yield* as("writer", "GRANT INSERT ON locked TO PUBLIC")
          const other = yield* open("writer")
          const locking = yield* open("writer")
          yield* locking.unsafe("BEGIN")
          yield* locking.unsafe("ALTER TABLE locked ADD more int")
          yield* apply(writer, reader)
          yield* Effect.flip(locking.unsafe("SELECT 1"))
          yield* other.unsafe("SELECT 1")
          yield* Effect.flip(as("leaver", "SELECT 1"))
        }).pipe(Effect.scoped)
      )

      it.effect(
        "the most readers that callers who may not write can make, all at their limits, leave a writer its sessions",
        () =>
          Effect.gen(function* () {
            const readers = Array.from({ length: 20 }, (_, n) => minted(`reader${n}`, "read_only"))
            yield* apply(writer, ...readers)
            const refused = yield* Effect.forEach(readers, ({ role }) =>
              // A reader has four sessions before Postgres 16. From then on all readers together have forty.
              Effect.map(Effect.all(Array.from({ length: 5 }, () => Effect.exit(open(role)))), (sessions) =>
                sessions.some((it) => it._tag === "Failure")
              )
            )
            assert.isTrue(refused.at(-1), "the readers are at their limit")
            yield* as("writer", "SELECT 1")
            yield* apply(writer, reader)
          }).pipe(Effect.scoped)
      )
    })
  )
}
