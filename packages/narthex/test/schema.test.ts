/** The schema that a host gives the control plane. Holds docs/design/library.md N47. */
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { blocksRunBy } from "../../../test/support/documentedBlocks.ts"
import { PostgresServer } from "../../postgres/test/support/PostgresServer.ts"
import { createControlPlane, isNarthexError, type PostgresOptions, postgres } from "../src/index.ts"

const ada = { subject: "user_42", email: "ada@example.com", email_verified: true }

const started = (url: string, options?: PostgresOptions) =>
  createControlPlane({ storage: postgres(url, options), secret: "A".repeat(43), log: "off", grace: 1_000 })

const failureOf = (url: string, options?: PostgresOptions) =>
  started(url, options).then(
    async (cp) => {
      await cp.close()
      return assert.fail("It started.")
    },
    (error: unknown) => (isNarthexError(error) ? `${error.code}: ${error.message}` : String(error))
  )

/** Statements of the host on a database of its own. */
const host = Effect.gen(function* () {
  const { admin, database } = yield* PostgresServer
  const url = yield* database
  const run = (text: string) => admin(text, url)
  return { run, url: Redacted.value(url) }
})

const tables = (schema: string) => `select 1 from pg_tables where schemaname = '${schema}'`

layer(PostgresServer.layer, { excludeTestServices: true, timeout: "120 seconds" })("the schema of a host", (it) => {
  it.effect("tables of the host with the names of the control plane's are neither used nor in the way", () =>
    Effect.gen(function* () {
      const { run, url } = yield* host
      for (const name of ["organization", "project", "session", "region"]) yield* run(`create table ${name} (sid text)`)
      yield* Effect.promise(async () => {
        await using cp = await started(url)
        const { personal_org_id } = await cp.people.ensure(ada)
        assert.isString(personal_org_id)
      })
      assert.lengthOf(yield* run("select 1 from public.organization"), 0)
      assert.lengthOf(yield* run("select 1 from narthex.organization"), 1)
      assert.lengthOf(yield* run(tables("public")), 4)
    })
  )

  it.effect("control planes with different schemas in one database know different people", () =>
    Effect.gen(function* () {
      const { run, url } = yield* host
      yield* Effect.promise(async () => {
        await using one = await started(url)
        await using other = await started(url, { schema: "other" })
        const { id } = await one.people.ensure(ada)
        assert.notStrictEqual((await other.people.ensure(ada)).id, id)
      })
      for (const schema of ["narthex", "other"]) assert.lengthOf(yield* run(`select 1 from ${schema}.user_account`), 1)
    })
  )

  it.effect("a role needs CREATE on the database only where it has no schema", () =>
    Effect.gen(function* () {
      const { run, url } = yield* host
      const role = `embedder_${crypto.randomUUID().slice(0, 8)}`
      yield* Effect.acquireRelease(run(`create role ${role} login`), () =>
        Effect.andThen(run(`drop owned by ${role}`), run(`drop role ${role}`))
      )
      const own = new URL(url)
      own.searchParams.set("user", role)
      assert.match(
        yield* Effect.promise(() => failureOf(own.toString())),
        /^invalid_options: storage: the user "embedder_\w+" may not create .*: permission denied for database .*\. Grant it CREATE/
      )
      const [{ text } = assert.fail("The README has no block.")] = blocksRunBy("packages/narthex/test/schema.test.ts")
      for (const statement of text.replaceAll(/\bapp\b/g, role).split(";\n")) yield* run(statement)
      yield* Effect.promise(async () => {
        await using cp = await started(own.toString())
        assert.isString((await cp.people.ensure(ada)).id)
      })
    })
  )

  it.effect("an object that is not the control plane's is named, and stays the only one", () =>
    Effect.gen(function* () {
      const { run, url } = yield* host
      yield* run("create table project ()")
      assert.match(
        yield* Effect.promise(() => failureOf(url, { schema: "public" })),
        /^invalid_options: storage: the schema "public" on .* holds an object that is not Narthex's: relation "project" already exists\. /
      )
      assert.lengthOf(yield* run(tables("public")), 1)
    })
  )

  it.effect("a name that is none, or that Postgres reserves, is refused", () =>
    Effect.promise(async () => {
      for (const schema of ["", "pg_own", "information_schema", "n".repeat(64), "a\0b"])
        assert.match(
          await failureOf("postgresql://localhost/shop", { schema }),
          /^invalid_options: storage\.schema: expected the name of a schema/
        )
    })
  )
})
