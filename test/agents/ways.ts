/**
 * Ways in which an agent could try to write to *main*, as data. Each is a sentence and the statements of one session;
 * failures of single statements are ignored, because what counts is that main is the same afterwards.
 *
 * `kept` and `counter` are on main: the owner made them.
 */
import { plantedCalls } from "./plantedCalls.ts"

export interface Way {
  readonly way: string
  readonly statements: ReadonlyArray<string>
}

const write = "INSERT INTO kept VALUES (666)"

/** With a read-only credential of main, whose name is `self`. */
export const asReader = (self: string): ReadonlyArray<Way> => [
  {
    way: "inserts, updates, deletes and truncates",
    statements: [write, "UPDATE kept SET n = 0", "DELETE FROM kept", "TRUNCATE kept"]
  },
  {
    way: "makes its transactions read-write first",
    statements: ["SET default_transaction_read_only = off", "SET transaction_read_only = off", write]
  },
  { way: "becomes the group of writers", statements: ["SET ROLE narthex_writer", "SET ROLE pg_database_owner", write] },
  { way: "becomes the supervisor", statements: ["SET ROLE narthex", "SET SESSION AUTHORIZATION narthex", write] },
  { way: "returns to its own role", statements: ["RESET ROLE", "RESET SESSION AUTHORIZATION", write] },
  {
    way: "makes the group of writers its role at login",
    statements: [`ALTER ROLE ${self} SET role = 'narthex_writer'`]
  },
  {
    way: "gives itself attributes",
    statements: [
      `ALTER ROLE ${self} SUPERUSER`,
      `ALTER ROLE ${self} CREATEROLE`,
      `ALTER ROLE ${self} REPLICATION`,
      `ALTER ROLE ${self} BYPASSRLS`,
      write
    ]
  },
  {
    way: "grants itself the group of writers",
    statements: [
      ...["narthex_writer", "pg_database_owner"].flatMap((group) => [`GRANT ${group} TO ${self}`, `SET ROLE ${group}`]),
      write
    ]
  },
  { way: "makes the writers members of itself", statements: [`GRANT ${self} TO narthex_writer`, write] },
  {
    way: "grants itself rights to the table",
    statements: [`GRANT ALL ON kept TO ${self}`, "GRANT ALL ON kept TO PUBLIC", write]
  },
  { way: "takes the table over", statements: [`ALTER TABLE kept OWNER TO ${self}`, "DROP TABLE kept"] },
  {
    way: "changes the table's form",
    statements: ["ALTER TABLE kept ADD mine int", "CREATE INDEX mine ON kept (n)", "COMMENT ON TABLE kept IS 'mine'"]
  },
  { way: "moves a sequence", statements: ["SELECT nextval('counter')", "SELECT setval('counter', 1000)"] },
  {
    way: "creates a table, a view and a function",
    statements: [
      "CREATE TABLE mine (n int)",
      "CREATE VIEW mine AS SELECT 1",
      "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'"
    ]
  },
  {
    way: "creates a schema and puts it in front",
    statements: ["CREATE SCHEMA mine", "SET search_path = mine, public", "CREATE TABLE mine.kept (n int)"]
  },
  {
    way: "creates temporary objects that hide the table",
    statements: ["CREATE TEMP TABLE kept (n int)", "CREATE TEMP VIEW kept AS SELECT 1"]
  },
  {
    way: "writes large objects",
    statements: [
      "SELECT lo_create(0)",
      "SELECT lo_from_bytea(0, 'x')",
      "SELECT lo_put(1, 0, 'x')",
      "SELECT lo_unlink(1)"
    ]
  },
  { way: "writes with a function of its own in a block", statements: [`DO $$ BEGIN EXECUTE '${write}'; END $$`] },
  {
    way: "writes in a common table expression",
    statements: ["WITH w AS (INSERT INTO kept VALUES (666) RETURNING n) SELECT n FROM w"]
  },
  {
    way: "locks rows and the table",
    statements: ["SELECT n FROM kept FOR UPDATE", "LOCK TABLE kept IN EXCLUSIVE MODE"]
  },
  {
    way: "copies rows into the table",
    statements: ["COPY kept FROM '/dev/null'", "COPY kept FROM PROGRAM 'echo 666'"]
  },
  {
    way: "executes a program or writes a file of the server",
    statements: [
      "COPY (SELECT 1) TO PROGRAM 'cat'",
      "COPY (SELECT 1) TO '/tmp/narthex-agent'",
      "SELECT lo_export(1, '/tmp/narthex-agent')"
    ]
  },
  {
    way: "reads the verifiers of writers",
    statements: [
      "CREATE TABLE stolen AS SELECT rolpassword FROM pg_authid",
      "SELECT rolpassword FROM pg_authid",
      "SELECT passwd FROM pg_shadow"
    ]
  },
  {
    way: "changes the catalog",
    statements: ["UPDATE pg_class SET relacl = NULL WHERE relname = 'kept'", "UPDATE pg_authid SET rolsuper = true"]
  },
  {
    way: "adds a trigger, a rule and a policy",
    statements: [
      "CREATE RULE mine AS ON SELECT TO kept DO INSTEAD SELECT 1",
      "CREATE POLICY mine ON kept",
      "CREATE TRIGGER mine BEFORE INSERT ON kept EXECUTE FUNCTION suppress_redundant_updates_trigger()"
    ]
  },
  { way: "calls the owner's function with the rights of its definer", statements: ["SELECT owned_write()"] },
  { way: "writes through the owner's view", statements: ["INSERT INTO shown VALUES (666)", "DELETE FROM shown"] },
  { way: "writes a logical message", statements: ["SELECT pg_logical_emit_message(false, 'a', 'b')"] }
]

/** With a read-write credential of a sandbox, while the sandbox is one: ways out of its own database. */
export const asWriter: ReadonlyArray<Way> = [
  {
    way: "connects to main's server from inside",
    statements: ["CREATE EXTENSION dblink", "SELECT dblink_exec('dbname=postgres', 'INSERT INTO kept VALUES (666)')"]
  },
  {
    way: "makes main's table a foreign table",
    statements: ["CREATE EXTENSION postgres_fdw", "CREATE SERVER main FOREIGN DATA WRAPPER postgres_fdw"]
  },
  {
    way: "reads main's files",
    statements: ["CREATE EXTENSION file_fdw", "SELECT pg_ls_dir('../..')", "SELECT pg_read_binary_file('../../main')"]
  },
  {
    way: "loads code into the server",
    statements: [
      "LOAD '$libdir/plpgsql'",
      "CREATE FUNCTION f() RETURNS int LANGUAGE c AS 'libc', 'getpid'",
      "CREATE EXTENSION plpython3u",
      "CREATE EXTENSION plperlu"
    ]
  },
  {
    way: "changes the server's configuration",
    statements: [
      "ALTER SYSTEM SET archive_command = 'true'",
      "SET session_preload_libraries = 'x'",
      "SELECT pg_reload_conf()"
    ]
  },
  {
    way: "replicates",
    statements: [
      "CREATE SUBSCRIPTION s CONNECTION 'dbname=postgres' PUBLICATION p",
      "SELECT pg_create_logical_replication_slot('s', 'pgoutput')"
    ]
  },
  {
    way: "leaves an event trigger",
    statements: [
      "CREATE FUNCTION ev() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'",
      "CREATE EVENT TRIGGER ev ON ddl_command_end EXECUTE FUNCTION ev()"
    ]
  },
  {
    way: "leaves a prepared transaction",
    statements: ["BEGIN", "INSERT INTO kept VALUES (666)", "PREPARE TRANSACTION 'later'"]
  },
  {
    way: "makes roles and databases",
    statements: ["CREATE ROLE mine LOGIN SUPERUSER", "CREATE DATABASE mine", "ALTER ROLE narthex PASSWORD 'x'"]
  }
]

/** With a read-write credential of a sandbox, before it becomes main: what could let the agent write afterwards. */
export const planted: ReadonlyArray<Way> = [
  ...plantedCalls,
  {
    way: "grants PUBLIC all rights",
    statements: [
      "GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC",
      "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO PUBLIC",
      "GRANT ALL ON SCHEMA public TO PUBLIC"
    ]
  },
  {
    way: "grants the group of readers all rights",
    statements: [
      "GRANT ALL ON kept TO narthex_reader WITH GRANT OPTION",
      "GRANT CREATE ON SCHEMA public TO narthex_reader"
    ]
  },
  {
    way: "leaves a function with the rights of its definer",
    statements: [
      "CREATE FUNCTION planted_write() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'INSERT INTO kept VALUES (666)'",
      "GRANT EXECUTE ON FUNCTION planted_write() TO PUBLIC"
    ]
  },
  {
    way: "leaves a procedure of its own role with the rights of its definer",
    statements: [
      "GRANT ALL ON kept TO PUBLIC",
      "RESET ROLE",
      "CREATE PROCEDURE planted_call() LANGUAGE sql SECURITY DEFINER AS 'INSERT INTO kept VALUES (666)'"
    ]
  },
  {
    way: "leaves a view that PUBLIC may write through",
    statements: ["CREATE VIEW planted_view AS SELECT n FROM kept", "GRANT ALL ON planted_view TO PUBLIC"]
  },
  {
    way: "leaves default privileges",
    statements: [
      "ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC",
      "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO narthex_reader"
    ]
  },
  { way: "grants single columns", statements: ["GRANT INSERT (n), UPDATE (n) ON kept TO PUBLIC"] },
  {
    way: "leaves a large object that PUBLIC may write",
    statements: ["SELECT lo_create(4242)", "GRANT ALL ON LARGE OBJECT 4242 TO PUBLIC"]
  },
  {
    way: "makes its other roles members of itself",
    statements: ["RESET ROLE", "DO $$ BEGIN EXECUTE format('GRANT %I TO narthex_reader', session_user); END $$"]
  },
  {
    way: "gives itself a password of its choice",
    statements: ["RESET ROLE", "DO $$ BEGIN EXECUTE format('ALTER ROLE %I PASSWORD ''chosen''', session_user); END $$"]
  }
]

/** After the promotion, with a read-only credential of the new main. */
export const harvest: ReadonlyArray<string> = [
  write,
  "UPDATE kept SET n = 0",
  "INSERT INTO planted_view VALUES (666)",
  "SELECT planted_write()",
  "CALL planted_call()",
  "CREATE TABLE harvested (n int)",
  "SELECT nextval('counter')",
  "SELECT lo_put(4242, 0, 'x')",
  "INSERT INTO later VALUES (666)",
  ...plantedCalls.flatMap(({ calls }) => calls)
]
