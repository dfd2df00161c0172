/**
 * An agent key never writes to *main*, over real computes: with everything that it may mint, on main itself, from a
 * sandbox, and with what it left in a sandbox that becomes main.
 * Holds docs/design/authorization.md Z24.
 */
import { assert, layer } from "@effect/vitest"
import {
  type Branch,
  Branches,
  ConfirmationLimit,
  Credentials,
  layerRunner,
  type MintedCredential,
  Projects,
  ProxyRequests
} from "@narthex/core"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Context, Duration, Effect, Layer, Redacted } from "effect"
import { dataDirectory, kinds, session } from "../../packages/local-postgres/test/support.ts"
import { workedOff } from "../races/support/workedOff.ts"
import { signIn, withKey, worldWith } from "../races/support/world.ts"
import { unlocked } from "./unlocked.ts"
import { asReader, asWriter, harvest, planted, type Way } from "./ways.ts"

const computes = Layer.unwrap(
  Effect.map(dataDirectory(0), (dataDir) => LocalComputeDriver.layer({ dataDir, binaries: kinds[0].choice }))
)

const makeProject = Effect.gen(function* () {
  const { mint } = yield* Credentials
  const { wake } = yield* ProxyRequests
  const branches = yield* Branches
  const owner = yield* signIn("owner@example.com")
  const agent = yield* withKey(owner, owner.org_id, "agent")
  const { branch: main, endpoint, project } = yield* (yield* Projects).create(owner, { name: "p", region: null })
  yield* workedOff(main)
  const { address } = yield* wake(endpoint.id, "127.0.0.1")

  const open = (at: string, { credential, password }: MintedCredential, chosen = Redacted.value(password)) =>
    session(at, credential.role, chosen)
  /** Runs what can be run of the statements, in one session. */
  const attempt = (at: string, by: MintedCredential, statements: ReadonlyArray<string>) =>
    Effect.flatMap(open(at, by), (sql) =>
      Effect.forEach([unlocked, ...statements], (text) => Effect.ignore(sql.unsafe(text)), { discard: true })
    ).pipe(Effect.scoped, Effect.ignore)

  const writer = yield* mint(owner, project, main, "read_write", null)
  yield* workedOff(main)
  yield* attempt(address, writer, [
    "CREATE TABLE kept AS SELECT 1 AS n",
    "CREATE SEQUENCE counter",
    "CREATE VIEW shown AS SELECT n FROM kept",
    "CREATE FUNCTION owned_write() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'INSERT INTO kept VALUES (666)'"
  ])
  const reader = yield* mint(agent, project, main, "read_only", null)
  yield* workedOff(main)

  /** The contents of a database: rows, relations and their rights, functions, schemas, large objects, the sequence. */
  const contents = (at: string, by: MintedCredential) =>
    Effect.scoped(
      Effect.flatMap(open(at, by), (sql) =>
        sql.unsafe(`SELECT (SELECT array_agg(n ORDER BY n) FROM kept) AS rows,
          (SELECT last_value::text || is_called::text FROM counter) AS position,
          (SELECT array_agg(relname::text || relkind::text ORDER BY relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace) AS relations,
          (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'kept'::regclass AND attnum > 0) AS columns,
          (SELECT count(*)::int FROM pg_proc WHERE pronamespace = 'public'::regnamespace) AS functions,
          (SELECT count(*)::int FROM pg_namespace WHERE nspname !~ '^pg_') AS schemas,
          (SELECT count(*)::int FROM pg_largeobject_metadata) AS objects,
          obj_description('kept'::regclass) AS comment`)
      )
    )

  const sandbox = Effect.gen(function* () {
    const wanted = { name: null, parent_id: main.id, protected: false, ttl_seconds: null, endpoint: true }
    const made = yield* branches.create(owner, project, wanted)
    yield* workedOff(made.branch)
    const woken = yield* wake(made.endpoint?.id ?? assert.fail("no endpoint"), "127.0.0.1")
    return { branch: made.branch, address: woken.address }
  })
  const mintAt = (caller: typeof owner | typeof agent, branch: Branch, access: "read_only" | "read_write") =>
    Effect.tap(mint(caller, project, branch, access, null), () => workedOff(branch))
  const promote = (branch: Branch) => Effect.andThen(branches.setDefault(owner, branch), workedOff(branch))
  return { address, agent, attempt, contents, main, mintAt, open, owner, promote, reader, sandbox, writer }
})

class Project extends Context.Service<Project, Effect.Success<typeof makeProject>>()("test/agents/Project") {
  static readonly layer = Layer.effect(Project, makeProject)
}

/** The compute yields the CPU, so it may confirm late. */
const patiently = Layer.succeed(ConfirmationLimit, Duration.minutes(1))

const world = Project.layer.pipe(
  Layer.provideMerge(layerRunner),
  Layer.provideMerge(worldWith(computes)),
  Layer.provide(patiently)
)

const sentences = (ways: ReadonlyArray<Way>) => ways.map(({ way }) => way)

layer(world, { excludeTestServices: true })("an agent key and main", (it) => {
  it.effect("there are at least twenty-five different ways to try", () =>
    Effect.sync(() => {
      const all = [...sentences(asReader("x")), ...sentences(asWriter), ...sentences(planted)]
      assert.isAtLeast(new Set(all).size, 25)
      assert.lengthOf(new Set(all), all.length)
    })
  )

  for (const { way } of asReader("self"))
    it.effect(`an agent with a read-only credential of main ${way}: main is unchanged`, () =>
      Effect.gen(function* () {
        const { address, attempt, contents, reader, writer } = yield* Project
        const before = yield* contents(address, writer)
        const statements = asReader(reader.credential.role).find((it) => it.way === way)?.statements ?? []
        yield* attempt(address, reader, statements)
        yield* attempt(address, reader, ["INSERT INTO kept VALUES (666)"])
        yield* contents(address, reader)
        assert.deepStrictEqual(yield* contents(address, writer), before)
      })
    )

  it.effect("an agent mints no read-write credential of main", () =>
    Effect.gen(function* () {
      const { agent, main, mintAt } = yield* Project
      const refusal = yield* Effect.flip(mintAt(agent, main, "read_write"))
      assert.strictEqual(refusal._tag, "Refused")
    })
  )

  it.effect("an agent's writer in a sandbox finds no way to main's database, nor into another sandbox's", () =>
    Effect.gen(function* () {
      const { address, agent, attempt, contents, mintAt, open, sandbox, writer } = yield* Project
      const before = yield* contents(address, writer)
      const { address: at, branch } = yield* sandbox
      const minted = yield* mintAt(agent, branch, "read_write")
      for (const { statements } of asWriter)
        for (const first of [[], ["RESET ROLE"]]) yield* attempt(at, minted, [...first, ...statements])
      yield* Effect.flip(Effect.scoped(open(address, minted)))
      assert.deepStrictEqual(yield* contents(address, writer), before)
    })
  )

  it.effect("nothing that an agent left in a sandbox, nor a session that it held, writes after it became main", () =>
    Effect.gen(function* () {
      const { agent, attempt, contents, mintAt, open, owner, promote, sandbox } = yield* Project
      const { address: at, branch } = yield* sandbox
      const minted = yield* mintAt(agent, branch, "read_write")
      const second = yield* mintAt(agent, branch, "read_write")
      const former = yield* mintAt(agent, branch, "read_only")
      for (const { statements } of planted) yield* attempt(at, minted, statements)
      const held = yield* open(at, second)
      for (const text of ["SET ROLE none", "BEGIN", `ALTER ROLE "${second.credential.role}" RESET work_mem`])
        yield* held.unsafe(text)
      const writing = yield* open(at, second)
      yield* writing.unsafe("INSERT INTO kept VALUES (2)")

      yield* promote(branch)
      const owners = yield* mintAt(owner, branch, "read_write")
      yield* attempt(at, owners, ["CREATE TABLE later (n int)"])
      const reader = yield* mintAt(agent, branch, "read_only")
      const before = yield* contents(at, owners)
      const left = yield* open(at, owners)
      assert.lengthOf(yield* left.unsafe("SELECT FROM pg_proc WHERE proname IN ('planted_write', 'planted_call')"), 2)
      for (const old of [held, writing]) yield* Effect.flip(old.unsafe("INSERT INTO kept VALUES (666)"))
      for (const old of [minted, second]) {
        yield* Effect.flip(Effect.scoped(open(at, old)))
        yield* Effect.flip(Effect.scoped(open(at, old, "chosen")))
      }
      // A reader of before stays one (docs/design/authorization.md Z25).
      yield* Effect.scoped(open(at, former))
      for (const reading of [reader, former]) {
        yield* attempt(at, reading, harvest)
        yield* attempt(at, reading, ["SET ROLE narthex_writer", ...harvest])
      }
      assert.deepStrictEqual(yield* contents(at, owners), before)
      assert.strictEqual((yield* Effect.flip(mintAt(agent, branch, "read_write")))._tag, "Refused")
    }).pipe(Effect.scoped)
  )
})
