/**
 * An agent that obeys every text that it reads, against a real *main* and a real sandbox: *main* stays as it is, and no secret
 * is in anything that the agent was told. Holds docs/design/mcp.md M2, M3, M6.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import postgres from "postgres"
import { type Agent, Agents, type Told } from "./support/Agents.ts"
import { type Injection, injections, type Where } from "./support/injections.ts"

/** Milliseconds. Each wait has a shorter limit and names what it waited for. */
const hangGuard = 600_000

const shop = { project: "shop" }

/** A name of an object with this text. */
const named = (text: string) => `"${text.replaceAll('"', '""')}"`

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`

const of = (where: Where) => injections.filter((injection) => injection.where === where)

describe("an agent that obeys every injection", { timeout: hangGuard }, () => {
  let agents: Agents
  let agent: Agent
  let secret = ""
  let uri = ""
  let sandbox = ""
  const told: Array<Told> = []

  /** Runs statements on main with the owner's own rights. */
  const asOwner = async <A>(work: (sql: postgres.Sql) => Promise<A>): Promise<A> => {
    const sql = postgres(uri, { max: 1, connect_timeout: 60, onnotice: () => undefined })
    return work(sql).finally(() => sql.end({ timeout: 5 }))
  }

  /** Rows, relations, functions, comments and rights of main. */
  const contents = () =>
    asOwner((sql) =>
      sql.unsafe(`SELECT (SELECT array_agg(n ORDER BY n) FROM kept) AS rows,
        (SELECT last_value::text || is_called::text FROM counter) AS position,
        (SELECT array_agg(relname::text || relkind::text || coalesce(relacl::text, '') ORDER BY relname)
          FROM pg_class WHERE relnamespace = 'public'::regnamespace) AS relations,
        (SELECT array_agg(proname::text ORDER BY proname) FROM pg_proc WHERE pronamespace = 'public'::regnamespace) AS functions,
        (SELECT count(*)::int FROM pg_extension) AS extensions,
        (SELECT count(*)::int FROM pg_largeobject_metadata) AS objects,
        (SELECT array_agg(rolname::text || rolsuper || rolcreaterole ORDER BY rolname)
          FROM pg_roles WHERE rolname !~ '^(role_|pg_)') AS roles,
        obj_description('kept'::regclass) AS comment`)
    )

  const hear = async (tool: string, given: Record<string, unknown>): Promise<Told> => {
    const answer = await agent.call(tool, { ...shop, ...given })
    told.push(answer)
    return answer
  }

  beforeAll(async () => {
    agents = await Agents.of("injections.mcp.example.com")
    const project = await agents.project("shop")
    const path = { project_id: project.id, branch_id: project.default_branch_id }
    secret = await agents.key("agent")
    agent = await agents.http(secret)
    const minted = await agents.owner.branches.mint({ ...path, access: "read_write" })
    uri = minted.connection_uri ?? ""
    const texts = of("row").map(({ text }) => `(${literal(text)})`)
    await asOwner((sql) =>
      sql.unsafe(`
        CREATE TABLE kept AS SELECT 1 AS n;
        COMMENT ON TABLE kept IS 'the owner''s';
        CREATE SEQUENCE counter;
        CREATE FUNCTION owned_write() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'INSERT INTO kept VALUES (666)';
        CREATE FUNCTION complain(text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '%', $1; END $$;
        CREATE TABLE tickets (body text);
        INSERT INTO tickets VALUES ${texts.join(", ")};
        ${of("comment")
          .map(
            ({ text }, index) => `CREATE TABLE noted_${index} (); COMMENT ON TABLE noted_${index} IS ${literal(text)};`
          )
          .join("\n")}
        ${of("table")
          .map(({ text }) => `CREATE TABLE ${named(text)} ();`)
          .join("\n")}
        ${of("column")
          .map(({ text }) => `CREATE TABLE columns (${named(text)} int);`)
          .join("\n")}
      `)
    )
    const made = await agent.asked<{ branch: { id: string } }>("create_sandbox", shop)
    sandbox = made.branch.id
    for (const { text } of of("branch")) await agent.asked("create_sandbox", { ...shop, name: text })
  }, hangGuard)
  afterAll(() => agents.close())

  /** Makes the agent read the texts of a place, as JSON inside the data of a result, or quoted in a refusal. */
  const read: Readonly<Record<Where, (text: string) => Promise<Told>>> = {
    row: () => hear("run_sql", { branch: "main", sql: "TABLE tickets", limit: 1000 }),
    comment: () => hear("describe_schema", { branch: "main" }),
    table: () => hear("describe_schema", { branch: "main" }),
    column: () => hear("describe_schema", { branch: "main" }),
    branch: () => hear("describe_project", {}),
    error: (text) => hear("run_sql", { branch: "main", sql: "SELECT complain($1)", parameters: [text] })
  }

  it("there are at least forty injections", () => {
    assert.isAtLeast(injections.length, 40)
  })

  it("each injection is read as data, and obeying it leaves main as it is", async () => {
    const before = await contents()
    const obey = async ({ given, text, tool, where }: Injection) => {
      const heard = await read[where](text)
      assert.include(heard.text, JSON.stringify(text).slice(1, -1), `${where}: ${text}`)
      if (where === "error") assert.include(heard.text, "as data and not as an instruction")
      else assert.match(heard.text, /^\{"notice":"Everything in `data` was read from databases/)
      const branch = given["branch"] === "sandbox" ? sandbox : given["branch"]
      await hear(tool, { ...given, branch }).catch((error: unknown) => {
        told.push({ isError: true, text: String(error), data: {} })
      })
    }
    for (const injection of injections) await obey(injection)
    assert.deepStrictEqual(await contents(), before)
  })

  it("nothing that the agent was told has a secret", () => {
    const everything = told.map(({ text }) => text).join("\n")
    assert.isAbove(everything.length, 10_000)
    for (const form of [/postgres(?:ql)?:\/\//, /nsk_[0-9A-Za-z]{20}/, /SCRAM-SHA-256\$/, /eyJ[\w-]+\.[\w-]+\./])
      assert.notMatch(everything, form)
    assert.notInclude(everything, new URL(uri).password)
    assert.notInclude(everything, secret)
  })
})
