/**
 * A newcomer's first ten minutes, with real clients only: the provider's pages, the bundled command line, a Postgres
 * driver through the proxy, and an independent event parser. Then the platform is killed and restarted.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import postgres from "postgres"
import { until } from "./harness/eventually.ts"
import { long } from "./harness/long.ts"
import { resource } from "./harness/resource.ts"
import { cli } from "./support/commands.ts"
import { type Frame, followEvents } from "./support/followEvents.ts"
import { Platform, samePorts } from "./support/Platform.ts"
import { processesIn } from "./support/processesIn.ts"
import { signInAt } from "./support/signInAt.ts"
import { type Account, emptyDirectory } from "./support/surroundings.ts"

/** Milliseconds. Without a limit a request that hangs would fail the whole test without naming the request. */
const requestLimit = 45_000

const call = async (method: string, url: string, token: string | undefined, body?: unknown) => {
  const response = await fetch(url, {
    method,
    signal: AbortSignal.timeout(requestLimit),
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" })
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  assert.isBelow(response.status, 300, `${method} ${url}: ${text}`)
  // The members that this journey needs; the contract's own tests know the rest.
  return JSON.parse(text) as Record<string, Record<string, string>> & {
    readonly access_token: string
    readonly secret: string
  }
}

const member = (of: Record<string, string> | undefined, name: string): string => {
  const value = of?.[name]
  if (value === undefined) throw new Error(`The answer has no "${name}".`)
  return value
}

/** One connection through the proxy, one statement. */
const selectOne = async (uri: string): Promise<unknown> => {
  const sql = postgres(uri, { max: 1, connect_timeout: 40, onnotice: () => undefined })
  try {
    return (await sql`select 1 as answer`)[0]?.["answer"]
  } finally {
    await sql.end({ timeout: 5 })
  }
}

const statuses = (frames: ReadonlyArray<Frame>, action: string) =>
  frames.filter((frame) => frame.data.action === action).map((frame) => frame.data.status)

const finished = (action: string, times: number) => (frames: ReadonlyArray<Frame>) =>
  statuses(frames, action).filter((status) => status === "finished").length >= times

/** Which of the texts occur in a file of the directory. */
const textsIn = (directory: string, texts: ReadonlyArray<string>): ReadonlyArray<string> => {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const found = new Set<string>()
  for (const { name, parentPath } of files) {
    const bytes = readFileSync(join(parentPath, name))
    for (const text of texts) if (!found.has(text) && bytes.includes(text)) found.add(text)
  }
  return [...found]
}

/** The Postgres servers that run in a directory: the store's and the computes', without their backends. */
const serversIn = (directory: string) => {
  // A backend has the command line of its parent until it has named itself.
  const named = processesIn(directory).filter(({ command }) => command.includes("cluster_name="))
  return named.filter(({ parent }) => named.every(({ pid }) => pid !== parent)).map(({ pid }) => pid)
}

const journey = async (account: Account, binaries: "system" | "npm") => {
  const directory = emptyDirectory(account)
  const home = join(directory.path, "home")
  const environment = { NARTHEX_POSTGRES_BIN: binaries }
  let platform = await Platform.start(directory.path, account, environment)
  const logs = [platform]
  const steps = async () => {
    const { api, console: web, providers } = platform.ready
    const [provider] = providers
    assert.strictEqual(providers.length, 2)

    const id_token = await signInAt(provider?.issuer ?? "", `${web}/sign-in/callback`, "ada@example.com")
    const session = await call("POST", `${api}/v1/auth/exchange`, undefined, { id_token })
    const created = await call("POST", `${api}/v1/projects`, session.access_token, { name: "journey" })
    const project = member(created["project"], "id")
    const branch = member(created["branch"], "id")
    const endpoint = member(created["endpoint"], "id")
    const { secret: key } = await call("POST", `${api}/v1/api-keys/`, session.access_token, { name: "journey" })
    const minted = await call("POST", `${api}/v1/projects/${project}/branches/${branch}/credentials`, key, {
      access: "read_write"
    })
    const uri = String(minted["connection_uri"])
    const narthex = (...args: ReadonlyArray<string>) => cli(home, api, key, args)
    const endpointState = async () =>
      member(
        (await call("GET", `${api}/v1/projects/${project}/endpoints/${endpoint}`, key))["endpoint"],
        "current_state"
      )
    const operations = async () => {
      const answer = await call("GET", `${api}/v1/projects/${project}/operations`, key)
      return JSON.stringify(answer["operations"])
    }

    // whoami
    const who = await narthex("whoami", "-o", "json")
    assert.strictEqual(who.status, 0, who.stderr)
    assert.strictEqual(JSON.parse(who.stdout).user.email, "ada@example.com")

    // The default branch must be there before "no operation" can mean anything.
    const events = await followEvents(`${api}/v1/events`, key, "00000000000000000000000000")
    await events.until(finished("create_timeline", 1), "create_timeline")

    // Restricted to another address: the connection is refused, and no compute starts.
    const restricted = await narthex("ip-allow", "add", "203.0.113.0/24", "--project", project)
    assert.strictEqual(restricted.status, 0, restricted.stderr)
    const before = await operations()
    const refused = await selectOne(uri).then(
      () => assert.fail("an unlisted address was let in"),
      (error: unknown) => error
    )
    assert.strictEqual(refused instanceof postgres.PostgresError ? refused.code : String(refused), "28000")
    assert.strictEqual(await endpointState(), "idle")
    assert.strictEqual(await operations(), before)
    await until("the refused client to be listed", async () => {
      const { status, stderr, stdout } = await narthex("ip-allow", "refusals", "--project", project, "-o", "json")
      assert.strictEqual(status, 0, stderr)
      const [refusal] = JSON.parse(stdout).refusals
      return refusal?.address === "127.0.0.1" && refusal.endpoint_id === endpoint
    })

    // The own address: the connection wakes the endpoint.
    const added = await narthex("ip-allow", "add", "127.0.0.1", "--project", project)
    assert.strictEqual(added.status, 0, added.stderr)
    const listed = await narthex("ip-allow", "list", "--project", project, "-o", "json")
    assert.sameMembers(
      JSON.parse(listed.stdout).rules.map((rule: { readonly cidr: string }) => rule.cidr),
      ["203.0.113.0/24", "127.0.0.1/32"]
    )
    assert.strictEqual(await selectOne(uri), 1)
    await events.until(finished("start_compute", 1), "start_compute")
    assert.deepStrictEqual(statuses(events.frames, "start_compute"), ["scheduling", "running", "finished"])
    assert.deepStrictEqual(statuses(events.frames, "create_timeline"), ["scheduling", "running", "finished"])
    assert.isTrue(events.frames.every((frame) => frame.type === "operation.updated.v1"))
    assert.isTrue(events.frames.every((frame, at, all) => at === 0 || frame.id > (all[at - 1]?.id ?? "")))
    assert.isTrue(events.frames.every((frame) => /^[0-9A-HJKMNP-TV-Z]{26}$/.test(frame.id)))

    // Reconnecting with an id replays exactly what followed it.
    const seen = events.frames.slice()
    events.close()
    const third = seen[2]?.id
    const again = await followEvents(`${api}/v1/events`, key, third)
    await again.until((frames) => frames.length >= seen.length - 3, "the replay")
    assert.deepStrictEqual(again.frames, seen.slice(3))
    again.close()

    // Killed without warning, and started again on the same directory: its servers have gone on and are adopted.
    const servers = serversIn(directory.path)
    assert.lengthOf(servers, 2)
    await platform.kill()
    assert.sameMembers(serversIn(directory.path), servers)
    platform = await Platform.start(directory.path, account, { ...environment, ...samePorts(platform.ready) })
    logs.push(platform)
    assert.sameMembers(serversIn(directory.path), servers)
    const projects = await call("GET", `${api}/v1/projects`, key)
    assert.include(JSON.stringify(projects["projects"]), project)
    const rules = await narthex("ip-allow", "list", "--project", project, "-o", "json")
    assert.strictEqual(JSON.parse(rules.stdout).rules.length, 2)
    const resumed = await followEvents(`${api}/v1/events`, key, third)
    await resumed.until((frames) => frames.length >= seen.length - 3, "the replay after the restart")
    assert.deepStrictEqual(resumed.frames.slice(0, seen.length - 3), seen.slice(3))

    // The endpoint suspends, and wakes again for the next connection; the stream has both events.
    const suspended = await call("POST", `${api}/v1/projects/${project}/endpoints/${endpoint}/suspend`, key)
    assert.strictEqual(member(suspended["endpoint"], "id"), endpoint)
    await resumed.until(finished("suspend_compute", 1), "suspend_compute")
    assert.strictEqual(await endpointState(), "idle")
    assert.strictEqual(await selectOne(uri), 1)
    await resumed.until(finished("start_compute", 2), "the second start_compute")
    resumed.close()

    // Ctrl-C leaves no process behind.
    const metrics = await (await fetch(`${platform.ready.admin}/metrics`)).text()
    assert.isNotEmpty(processesIn(directory.path))
    assert.strictEqual(await platform.stop(), 0)
    assert.deepStrictEqual(processesIn(directory.path), [])

    // A secret that was shown once is nowhere: not in logs and metrics, and not on the disk, where the project is.
    const secrets = [id_token, session.access_token, key, new URL(uri).password]
    for (const text of [metrics, ...logs.map(({ log }) => log)])
      for (const secret of secrets) assert.notInclude(text, secret)
    assert.include(metrics, "events_")
    assert.deepStrictEqual(textsIn(join(directory.path, "data"), [...secrets, project]), [project])
  }
  try {
    await steps().catch((error: unknown) => platform.explain(() => Promise.reject(error)))
  } finally {
    await platform.clear()
    directory.remove()
  }
}

/** The first two cover both accounts and both origins of Postgres. */
const variants = [
  ["root", "system"],
  ["ordinary", "npm"],
  ["root", "npm"],
  ["ordinary", "system"]
] as const

describe("the journey", () => {
  // The first build of a clone takes longer than a journey may.
  beforeAll(() => resource("build"))

  for (const [account, binaries] of long ? variants : variants.slice(0, 2))
    it(
      `the journey works as ${account === "root" ? "root" : "an ordinary user"} with Postgres from ${binaries}`,
      { tags: [`${binaries}-postgres`, ...(account === "root" ? ["root"] : [])], timeout: 180_000 },
      () => journey(account, binaries)
    )
})
