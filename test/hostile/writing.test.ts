/**
 * Ways to write without the right to, over credentials that were minted over HTTP, through the proxy, in real computes
 * whose roles the driver made.
 */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { unlocked } from "../agents/unlocked.ts"
import { asReader, asWriter, harvest, planted } from "../agents/ways.ts"
import { SharedPlatform } from "../support/SharedPlatform.ts"
import { type Caller, eventuallyMust, must, textAt } from "./support/Caller.ts"
import { attempt, contents, objectsOfMain } from "./support/contents.ts"
import { type Ids, mint, newKey, newProject, roleIn, team } from "./support/organizations.ts"
import { eventuallyOpen, login } from "./support/Session.ts"

const from = "127.0.0.1"
const write = "insert into kept values (666)"

/** Ways to make a session of a read-only endpoint writable, each followed by writes. */
const unlocking: ReadonlyArray<ReadonlyArray<string>> = [
  [],
  ["set transaction read write"],
  ["begin", "set transaction read write"],
  ["set session characteristics as transaction read write", "set default_transaction_read_only = off"],
  ["reset all", "discard all"],
  ["reset role", "set session authorization default"],
  ["set role narthex_writer"],
  ["set role narthex"],
  ["do $$ begin execute format('set role %I', replace(session_user, '__read_only', '')); end $$"],
  ["do $$ begin execute format('set session authorization %I', replace(session_user, '__read_only', '')); end $$"],
  ["do $$ begin execute format('grant %I to %I', replace(session_user, '__read_only', ''), session_user); end $$"]
]

const writes: ReadonlyArray<string> = [
  write,
  "update kept set n = 0",
  "delete from kept",
  "truncate kept",
  "copy kept from '/dev/null'",
  "copy kept from stdin",
  "select nextval('counter')",
  "select setval('counter', 1000)",
  "select lo_create(0)",
  "select lo_put(4711, 0, 'lost')",
  "select lo_unlink(4711)",
  "select n from kept for update",
  "lock table kept in exclusive mode",
  "create table mine (n int)",
  "insert into shown values (666)",
  "select owned_write()",
  "with w as (insert into kept values (666) returning n) select n from w",
  "do $$ begin insert into kept values (666); end $$",
  "prepare written as insert into kept values (666)",
  "execute written",
  "alter table kept add mine int",
  "comment on table kept is 'mine'"
]

describe("a credential without the right to write", () => {
  let platform: SharedPlatform
  let owner: Caller & { readonly org: string }
  let main: Ids
  let writer: string

  beforeAll(async () => {
    platform = await SharedPlatform.get()
    const { api, providers } = platform.ready
    owner = await team(api, providers[0]?.issuer ?? "", from, "owner@writing.example.com")
    main = await newProject(owner, "p")
    writer = await mint(owner, main, "read_write")
    const made = await attempt(writer, from, objectsOfMain)
    assert.deepStrictEqual(
      made,
      objectsOfMain.map(() => "done")
    )
  })

  it("writes nothing through a read-only endpoint, whatever its session sets", () =>
    platform.explain(async () => {
      const path = `/v1/projects/${main.project}/endpoints`
      const made = await must(owner, "POST", path, { branch_id: main.branch })
      const through = writer.replace(main.endpoint, textAt(made, "endpoint", "id"))
      const session = await eventuallyOpen(through, from)
      const twin = await session.query("select current_user::text as name")
      assert.deepStrictEqual(await session.query("show transaction_read_only"), [{ transaction_read_only: "on" }])
      session.close()
      assert.deepStrictEqual(twin, [{ name: `${roleIn(writer)}__read_only` }])
      assert.deepStrictEqual(await attempt(through, from, ["select n from kept"]), ["done"])
      const before = await contents(writer, from)
      for (const statements of unlocking) {
        await attempt(through, from, [...statements, ...writes])
        // Statement by statement outside of a transaction that has failed.
        for (const one of [write, "select nextval('counter')", "select lo_put(4711, 0, 'lost')"])
          assert.notStrictEqual((await attempt(through, from, [...statements, one])).at(-1), "done", one)
        assert.strictEqual(await contents(writer, from), before, statements.join("; "))
      }
      assert.deepStrictEqual(await attempt(writer, from, ["insert into kept values (2)"]), ["done"])
      assert.notStrictEqual(await contents(writer, from), before, "The comparison sees a write.")
    }))

  it("writes nothing to main as an agent's reader, in any of the ways of the agents' suite", () =>
    platform.explain(async () => {
      const { caller } = await newKey(owner, "agent")
      const reader = await mint(caller, main, "read_only")
      const before = await contents(writer, from)
      for (const { statements, way } of asReader(roleIn(reader))) {
        await attempt(reader, from, [unlocked, ...statements, write])
        assert.strictEqual(await contents(writer, from), before, way)
      }
    }))

  it("writes nothing as an agent's writer once its sandbox is main, whatever it left there", () =>
    platform.explain(async () => {
      const { caller } = await newKey(owner, "agent")
      const made = await eventuallyMust(caller, "POST", `/v1/projects/${main.project}/sandboxes`, {})
      const agent = textAt(made, "connection_uri")
      const ids = { project: main.project, branch: textAt(made, "branch", "id") }
      const path = `/v1/projects/${ids.project}/branches/${ids.branch}`
      const ofMain = await contents(writer, from)
      for (const { statements } of asWriter) await attempt(agent, from, statements)
      assert.strictEqual(await contents(writer, from), ofMain)
      for (const { statements } of planted) await attempt(agent, from, statements)
      const held = await eventuallyOpen(agent, from)
      await held.query("insert into kept values (2)")

      await must(owner, "PATCH", path, { ttl_seconds: null })
      await eventuallyMust(owner, "POST", `${path}/set-default`)
      const owners = await mint(owner, ids, "read_write")
      assert.deepStrictEqual(await attempt(owners, from, ["create table later (n int)"]), ["done"])
      const reader = await mint(caller, ids, "read_only")
      const before = await contents(owners, from)
      assert.isTrue(
        await held.query(write).then(
          () => false,
          () => true
        )
      )
      held.close()
      for (const uri of [agent, agent.replace(/:[^:@]*@/, ":chosen@")])
        assert.strictEqual(await login(uri, from), "28P01")
      await attempt(reader, from, [unlocked, ...harvest])
      await attempt(reader, from, [unlocked, "set role narthex_writer", ...harvest])
      assert.strictEqual(await contents(owners, from), before)
    }))
})
