/**
 * The door `/mcp`: testers of other people against it, and what it refuses: docs/design/mcp.md M12, M13, M17 to M22.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { request as ask, createServer } from "node:http"
import { createRequire } from "node:module"
import type { AddressInfo } from "node:net"
import { dirname, join } from "node:path"
import { text } from "node:stream/consumers"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { until, within } from "../harness/eventually.ts"
import { type Agent, Agents } from "./support/Agents.ts"

/** Milliseconds. Each wait has a shorter limit and names what it waited for. */
const hangGuard = 300_000

const folderOf = (name: string) => dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))

const conformance = join(folderOf("@modelcontextprotocol/conformance"), "dist/index.js")
const inspector = join(folderOf("@modelcontextprotocol/inspector-cli"), "build/cli.js")

const run = async (program: string, args: ReadonlyArray<string>) => {
  const { NODE_OPTIONS: _, ...env } = process.env
  // The inspector finds its manifest from the working folder.
  const child = spawn(process.execPath, [program, ...args], {
    cwd: dirname(program),
    env,
    stdio: ["ignore", "pipe", "pipe"]
  })
  const end = Promise.all([once(child, "close"), text(child.stdout), text(child.stderr)])
  const [[status], stdout, stderr] = await within(program, end).finally(() => child.kill("SIGKILL"))
  return { status, stdout, stderr }
}

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } }
}

describe("the door /mcp", { timeout: hangGuard }, () => {
  let agents: Agents
  let secret = ""

  beforeAll(async () => {
    agents = await Agents.of("door.mcp.example.com")
    await agents.project("shop")
    secret = await agents.key("agent")
  }, hangGuard)
  afterAll(() => agents.close())

  /** A request with any `Host`, which `fetch` does not send. */
  const post = (body: unknown, headers: Readonly<Record<string, string>> = {}, method = "POST") =>
    new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }>((resolve, reject) => {
      const request = ask(`${agents.api}/mcp`, {
        method,
        headers: {
          authorization: `Bearer ${secret}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...headers
        }
      })
      request.on("error", reject)
      request.on("response", (response) => {
        text(response).then(
          (read) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: read }),
          reject
        )
      })
      request.end(body === undefined ? undefined : JSON.stringify(body))
    })

  /** The door for testers that cannot send a key: everything else is passed on as it comes. */
  const withKey = async <A>(work: (url: string) => Promise<A>): Promise<A> => {
    const door = new URL(agents.api)
    const server = createServer((incoming, outgoing) => {
      const own = incoming.headers.host ?? ""
      const { origin } = incoming.headers
      const mine = /^(localhost|127\.0\.0\.1):/.test(own)
      const headers = {
        ...incoming.headers,
        authorization: `Bearer ${secret}`,
        host: mine ? door.host : own,
        ...(origin === undefined ? {} : { origin: origin.replace(`//${own}`, `//${door.host}`) })
      }
      const passed = ask(`${agents.api}${incoming.url}`, { method: incoming.method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(outgoing)
      })
      passed.on("error", () => outgoing.destroy())
      incoming.pipe(passed)
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo // A TCP server that listens has one.
    return work(`http://localhost:${port}/mcp`).finally(() => {
      server.closeAllConnections()
      server.close()
    })
  }

  for (const scenario of ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"])
    it(`the scenario ${scenario} of the conformance suite passes`, async () => {
      await withKey(async (url) => {
        const { status, stderr, stdout } = await run(conformance, ["server", "--url", url, "--scenario", scenario])
        assert.strictEqual(status, 0, `${stdout}\n${stderr}`)
      })
    })

  it("the inspector's command line lists the tools and calls one", async () => {
    const door = [`${agents.api}/mcp`, "--transport", "http", "--header", `authorization: Bearer ${secret}`]
    const asked = async (...args: ReadonlyArray<string>) => {
      const { status, stderr, stdout } = await run(inspector, ["--cli", ...door, "--method", ...args])
      assert.strictEqual(status, 0, stderr)
      return stdout
    }
    assert.include(await asked("tools/list"), '"run_sql"')
    assert.include(await asked("tools/call", "--tool-name", "list_projects"), "shop")
  })

  it("every request of every method is 401 without a key, with a wrong one and with a person's session", async () => {
    assert.strictEqual((await agents.owner.auth.whoami()).kind, "session")
    const session = String((await post(initialize)).headers["mcp-session-id"])
    const requests = [
      initialize,
      { jsonrpc: "2.0", id: 2, method: "tools/list" },
      { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "list_projects", arguments: {} } }
    ]
    for (const authorization of ["", "Basic YTpi", "Bearer nsk_wrong", `Bearer ${agents.session}`]) {
      const given = { authorization, "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" }
      const answers = [
        ...(await Promise.all(requests.map((request) => post(request, given)))),
        await post(undefined, given, "DELETE"),
        await post(undefined, given, "GET")
      ]
      for (const { body, headers, status } of answers) {
        assert.strictEqual(status, 401, authorization)
        assert.match(String(headers["www-authenticate"]), /^Bearer realm="narthex"/)
        assert.include(["unauthenticated", "invalid_token"], JSON.parse(body).code)
      }
    }
    const list = { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" }
    assert.strictEqual((await post(requests[1], list)).status, 200, "and the session of the key goes on")
  })

  it("keys of every capability may list the tools", async () => {
    for (const capability of ["agent", "read", "read_write"] as const) {
      const agent = await agents.http(await agents.key(`a ${capability} key`, capability))
      assert.isNotEmpty((await agent.client.listTools()).tools, capability)
    }
  })

  it("there is no metadata of OAuth, and no challenge leads to one", async () => {
    for (const path of ["oauth-protected-resource", "oauth-protected-resource/mcp", "oauth-authorization-server"])
      assert.strictEqual((await fetch(`${agents.api}/.well-known/${path}`)).status, 404, path)
    const { headers } = await post(initialize, { authorization: "" })
    assert.notInclude(String(headers["www-authenticate"]), "resource_metadata")
  })

  it("a foreign Host and a foreign Origin are 403, and this server's own are not", async () => {
    const { host } = new URL(agents.api)
    assert.strictEqual((await post(initialize, { host: "evil.example.com" })).status, 403)
    assert.strictEqual((await post(initialize, { origin: "https://evil.example.com" })).status, 403)
    assert.strictEqual((await post(initialize, { origin: "null" })).status, 403)
    assert.strictEqual((await post(initialize, { origin: `http://${host}` })).status, 200)
  })

  it("a refusal of the protocol keeps its body, and a wrong method is 405", async () => {
    const { body, status } = await post({ jsonrpc: "2.0", id: 7, method: "tools/list" })
    assert.strictEqual(status, 400)
    assert.isNumber(JSON.parse(body).error.code)
    const wrong = await post(undefined, {}, "GET")
    assert.deepStrictEqual([wrong.status, wrong.headers["allow"]], [405, "POST, DELETE"])
  })

  it("a session belongs to the key that began it, and a key has sixteen", async () => {
    const begin = async () => String((await post(initialize)).headers["mcp-session-id"])
    const list = { jsonrpc: "2.0", id: 2, method: "tools/list" }
    const first = await begin()
    const uses = async (session: string, more: Readonly<Record<string, string>> = {}) =>
      (await post(list, { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25", ...more })).status
    assert.strictEqual(await uses(first), 200)
    const other = await agents.key("other")
    assert.strictEqual(await uses(first, { authorization: `Bearer ${other}` }), 404)
    const more: Array<string> = []
    for (let count = 0; count < 16; count++) more.push(await begin())
    assert.strictEqual(await uses(first), 404)
    assert.strictEqual(await uses(more.at(-1) ?? ""), 200)
  })

  it("a revoked key is refused at its next request", async () => {
    const short = await agents.key("short")
    const authorization = `Bearer ${short}`
    assert.strictEqual((await post(initialize, { authorization })).status, 200)
    const { api_keys } = await agents.owner.apiKeys.list({})
    await agents.owner.apiKeys.revoke({ api_key_id: api_keys.find(({ name }) => name === "short")?.id ?? "" })
    assert.strictEqual((await post(initialize, { authorization })).status, 401)
  })

  const main = { project: "shop", branch: "main" }

  /** How many statements that sleep this agent sees: those of its own key, because other keys have other roles. */
  const sleeping = async (watcher: Agent) => {
    const sql =
      "SELECT count(*)::int FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(29%' AND pid <> pg_backend_pid()"
    const { rows } = await watcher.asked<{ rows: ReadonlyArray<ReadonlyArray<unknown>> }>("run_sql", { ...main, sql })
    return rows[0]?.[0]
  }

  it("the revocation of a key ends the statement that it runs", async () => {
    const own = await agents.key("revoked")
    const [agent, watcher] = [await agents.http(own), await agents.http(own)]
    const running = agent.call("run_sql", { ...main, sql: "SELECT pg_sleep(29)" })
    await until("the statement to run", async () => (await sleeping(watcher)) === 1)
    const { api_keys } = await agents.owner.apiKeys.list({})
    await agents.owner.apiKeys.revoke({ api_key_id: api_keys.find(({ name }) => name === "revoked")?.id ?? "" })
    const told = await within("the statement to end", running)
    // At its own end the statement would have succeeded, and at its limit the rule would be another.
    assert.match(told.text, /Refused by rule (?:57P01|no_connection)/)
  })

  it("an agent that leaves cancels its statement", async () => {
    const agent = await agents.http(secret)
    // With the same key, so with the same role: other roles do not see what it runs.
    const watcher = await agents.http(secret)
    await agent.asked("run_sql", { ...main, sql: "SELECT 1" })
    const leaving = new AbortController()
    const call = agent.client.callTool(
      { name: "run_sql", arguments: { ...main, sql: "SELECT pg_sleep(29)" } },
      { signal: leaving.signal }
    )
    call.catch(() => undefined)
    await until("the statement to run", async () => (await sleeping(watcher)) !== 0)
    leaving.abort()
    await until("the statement to end", async () => (await sleeping(watcher)) === 0, { limit: 15_000 })
  })

  it("the project's allowlist holds for the agent's address", async () => {
    const project = await agents.project("walled")
    await agents.owner.ipAllow.add({ project_id: project.id, cidr: "203.0.113.0/24" })
    const agent = await agents.http(secret)
    const told = await agent.call("run_sql", { project: "walled", branch: "main", sql: "SELECT 1" })
    assert.match(told.text, /Refused by rule ip_allowlist/)
    await agents.owner.ipAllow.add({ project_id: project.id, cidr: "127.0.0.1/32" })
    await until("the address to be let in", async () => {
      const now = await agent.call("run_sql", { project: "walled", branch: "main", sql: "SELECT 1" })
      return !now.isError
    })
  })
})
