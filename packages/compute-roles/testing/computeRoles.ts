/** The contract of roles on a server, whatever the sessions of users do. Run it for each driver that applies roles. */
import { type ComputeRole, makeRoleSecret } from "@narthex/core"
import { assert, contract } from "@narthex/core/testing"
import { Context, Effect, Option, Redacted, type Scope } from "effect"

type Rows = ReadonlyArray<object>

/** Executes one statement in a session that is open. */
export type Execute = (text: string) => Effect.Effect<Rows, unknown>

/** A running server on which a driver applies roles. */
export class RoleServer extends Context.Service<
  RoleServer,
  {
    readonly apply: (roles: ReadonlyArray<ComputeRole>) => Effect.Effect<void, unknown>
    /** Whether applying the list would change something. */
    readonly needs: (roles: ReadonlyArray<ComputeRole>) => Effect.Effect<boolean, unknown>
    /** Logs in to the database `postgres`. */
    readonly open: (role: string, password: string) => Effect.Effect<Execute, unknown, Scope.Scope>
  }
>()("@narthex/compute-roles/testing/RoleServer") {}

interface Minted {
  readonly role: ComputeRole
  readonly password: string
}

const mint = (access: ComputeRole["access"]): Effect.Effect<Minted> =>
  Effect.map(makeRoleSecret, ({ password, role, verifier }) => ({
    role: { role, verifier, access, expires_at: Option.none() },
    password: Redacted.value(password)
  }))

const open = ({ password, role }: Minted) => RoleServer.use((server) => server.open(role.role, password))
const apply = (...roles: ReadonlyArray<Minted>) =>
  RoleServer.use((server) => server.apply(roles.map(({ role }) => role)))
const needs = (...roles: ReadonlyArray<Minted>) =>
  RoleServer.use((server) => server.needs(roles.map(({ role }) => role)))

const all = (execute: Execute, ...statements: ReadonlyArray<string>) =>
  Effect.forEach(statements, (text) => execute(text), { discard: true })

const isRefused = Effect.fnUntraced(function* (
  what: string,
  call: Effect.Effect<unknown, unknown, RoleServer | Scope.Scope>
) {
  assert.isTrue(yield* Effect.isFailure(Effect.scoped(call)), what)
})

/** Only the setting of the role goes; grants still keep a reader from writing. */
const unlocked = "SET default_transaction_read_only = off"

/** A writer and a reader that are applied, with a session each; the reader's may write as far as grants let it. */
const both = Effect.gen(function* () {
  const [writer, reader] = [yield* mint("read_write"), yield* mint("read_only")]
  yield* apply(writer, reader)
  const [writes, reads] = [yield* open(writer), yield* open(reader)]
  yield* reads(unlocked)
  return { reader, reads, writer, writes }
})

interface Attack {
  /** A role … is gone. */
  readonly which: string
  /** Statements of the role that has to go, in a session that stays open. */
  readonly leaver?: ReadonlyArray<string>
  /** Statements of another writer, in a session that stays open. */
  readonly other?: (leaver: string) => ReadonlyArray<string>
}

const attacks: ReadonlyArray<Attack> = [
  {
    which: "that holds an open change of its own row",
    leaver: ["SET ROLE none", "BEGIN", "ALTER ROLE current_user PASSWORD 'x'"]
  },
  {
    which: "that holds an open change of its own settings",
    leaver: ["SET ROLE none", "BEGIN", "ALTER ROLE current_user SET work_mem = '1MB'"]
  },
  {
    which: "whose table another role keeps locked",
    leaver: ["CREATE TABLE IF NOT EXISTS contract_kept (n int)"],
    other: () => ["BEGIN", "LOCK TABLE contract_kept"]
  },
  {
    which: "that another role keeps in use by an open grant",
    other: (leaver) => [
      "CREATE TABLE IF NOT EXISTS contract_granted (n int)",
      "BEGIN",
      `GRANT SELECT ON contract_granted TO "${leaver}"`
    ]
  },
  { which: "that holds a temporary table", leaver: ["CREATE TEMP TABLE held (n int)", "BEGIN", "LOCK TABLE held"] }
]

export const computeRolesContract = contract<RoleServer>("RoleServer", (it) => {
  it("roles that are applied log in, and a comparison with their list finds no difference", () =>
    Effect.gen(function* () {
      const { reader, reads, writer, writes } = yield* both
      yield* writes("SELECT 1")
      yield* reads("SELECT 1")
      assert.deepStrictEqual([yield* needs(writer, reader), yield* needs(writer)], [false, true])
    }))

  it("a reader reads what writers make, says that it only reads, and writes nothing when it takes that back", () =>
    Effect.gen(function* () {
      const { reader, reads, writes } = yield* both
      yield* all(
        writes,
        "CREATE TABLE contract_read AS SELECT 1 AS n",
        "CREATE SCHEMA contract",
        "CREATE TABLE contract.t (n int)"
      )
      yield* all(reads, "SELECT n FROM contract_read", "SELECT n FROM contract.t")
      const fresh = yield* open(reader)
      assert.deepStrictEqual(yield* fresh("SHOW transaction_read_only"), [{ transaction_read_only: "on" }])
      for (const write of [
        "INSERT INTO contract_read VALUES (2)",
        "TRUNCATE contract_read",
        "SELECT n FROM contract_read FOR UPDATE",
        "CREATE TABLE contract_mine (n int)",
        "CREATE TEMP TABLE contract_mine (n int)",
        "CREATE SCHEMA contract_mine",
        "SELECT lo_create(0)",
        "SELECT pg_advisory_lock(1)",
        "SELECT rolpassword FROM pg_authid",
        "SET ROLE narthex_writer",
        "SET ROLE pg_database_owner"
      ])
        yield* isRefused(write, reads(write))
      yield* all(writes, "DROP TABLE contract_read", "DROP SCHEMA contract CASCADE")
    }))

  it("a writer changes and drops what another writer has made, also once that one has gone", () =>
    Effect.gen(function* () {
      const { reader, writer, writes } = yield* both
      const next = yield* mint("read_write")
      yield* writes("CREATE TABLE contract_shared AS SELECT 1 AS n")
      yield* apply(writer, reader, next)
      const other = yield* open(next)
      yield* other("ALTER TABLE contract_shared ADD m int")
      yield* apply(reader, next)
      yield* all(other, "INSERT INTO contract_shared VALUES (2, 3)", "DROP TABLE contract_shared")
    }))

  it("rights to write that a writer gave PUBLIC end when roles are applied", () =>
    Effect.gen(function* () {
      const { reader, reads, writer, writes } = yield* both
      yield* all(
        writes,
        "CREATE TABLE contract_open (n int)",
        "GRANT INSERT ON contract_open TO PUBLIC",
        "CREATE FUNCTION contract_writes() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'INSERT INTO contract_open VALUES (1)'",
        "GRANT EXECUTE ON FUNCTION contract_writes() TO PUBLIC"
      )
      const ways = ["INSERT INTO contract_open VALUES (1)", "SELECT contract_writes()"]
      yield* all(reads, ...ways)
      assert.isTrue(yield* needs(writer, reader))
      yield* apply(writer, reader)
      for (const way of ways) yield* isRefused(way, reads(way))
      assert.isFalse(yield* needs(writer, reader))
      yield* all(writes, ...ways, "DROP FUNCTION contract_writes()", "DROP TABLE contract_open")
    }))

  it("a role that becomes read-only loses its session and its right to write", () =>
    Effect.gen(function* () {
      const { writer, writes } = yield* both
      yield* apply({ ...writer, role: { ...writer.role, access: "read_only" } })
      yield* isRefused("a statement of the former session", writes("SELECT 1"))
      const reads = yield* open(writer)
      yield* reads(unlocked)
      yield* isRefused("a write", reads("CREATE TABLE contract_turned (n int)"))
    }))

  it("a list with a name or a verifier of another form is refused, and nothing of it is applied", () =>
    Effect.gen(function* () {
      const { reader, writer } = yield* both
      for (const changed of [
        { role: "narthex" },
        { role: "pg_monitor" },
        { role: "x".repeat(64) },
        { verifier: "plain" }
      ])
        yield* isRefused(JSON.stringify(changed), apply(writer, { ...reader, role: { ...reader.role, ...changed } }))
      yield* Effect.scoped(open(reader))
    }))

  for (const { leaver = [], other, which } of attacks)
    it(`a role ${which} is gone when roles are applied without it, with all of its sessions`, () =>
      Effect.gen(function* () {
        const { reader, writer, writes } = yield* both
        const leaving = yield* mint("read_write")
        yield* apply(writer, reader, leaving)
        const holding = yield* open(leaving)
        yield* all(holding, ...leaver)
        yield* all(writes, ...(other?.(leaving.role.role) ?? []))
        yield* apply(writer, reader)
        yield* isRefused("a statement of the session", holding("SELECT 1"))
        yield* isRefused("a login", open(leaving))
        const fresh = yield* open(writer)
        const found = yield* fresh(`SELECT FROM pg_roles WHERE rolname = '${leaving.role.role}'`)
        assert.lengthOf(found, 0)
      }))
})
