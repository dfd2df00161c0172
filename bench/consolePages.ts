/**
 * CPU time of the platform's process per page of the console, beside a request of the API and a bare server of the same
 * bytes in the same run.
 *
 * `node --conditions=source bench/consolePages.ts [requests] [rounds] [checkout]`, by default `200 5`. The
 * platform is the built program with its embedded Postgres: it serves the console, the API that the pages call, and the
 * development provider at which the benchmark signs in. Postgres is not counted. Pages take turns; medians of rounds.
 * With another checkout its platform takes turns with this one's, page by page: that is how a change is measured.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { signInAt } from "../test/support/signInAt.ts"
import { Visitor } from "./consoleVisitor.ts"
import { ratio } from "./ratios.ts"

const [requests, rounds] = [Number(process.argv[2] ?? 200), Number(process.argv[3] ?? 5)]
const other = process.argv[4]

/** Connections with one request at a time each. */
const connections = 4

/** Sends every path the same page, and prints its port. */
const bareServer = `
  const page = Buffer.alloc(Number(process.env.BYTES), "a")
  const server = require("node:http").createServer((request, response) => {
    response.writeHead(200, { "content-type": "text/html", "content-length": page.length }).end(page)
  })
  server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ port: server.address().port })))
`

interface Ready {
  readonly api: string
  readonly console: string
  readonly providers: ReadonlyArray<{ readonly id: string; readonly issuer: string }>
}

/** One request of the API with a session of its own. */
const apiRequest = async ({ api, console: web, providers: [provider] }: Ready): Promise<() => Promise<string>> => {
  if (provider === undefined) throw new Error("The platform has no development provider.")
  const id_token = await signInAt(provider.issuer, `${web}/sign-in/callback`, "ada@example.com")
  const body = JSON.stringify({ provider: provider.id, id_token })
  const headers = { "content-type": "application/json" }
  const session = await fetch(`${api}/v1/auth/exchange`, { method: "POST", body, headers })
  const { access_token } = (await session.json()) as { readonly access_token: string } // the contract of the API
  const authorization = `Bearer ${access_token}`
  return () => fetch(`${api}/v1/auth/whoami`, { headers: { authorization } }).then((response) => response.text())
}

const firstLine = async (child: ChildProcess): Promise<string> => {
  if (child.stdout === null) throw new Error("The output is not piped.")
  const ended = once(child, "close").then(() => Promise.reject(new Error("The program ended at its start.")))
  ended.catch(() => undefined) // It ends at the end of the benchmark, too.
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), "line"), ended])
  return String(line)
}

/** Milliseconds of CPU that a process has used. The kernel counts in steps of 10. */
const cpuOf = (child: ChildProcess): number => {
  const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Milliseconds of CPU per request. */
const measure = async (child: ChildProcess, ask: () => Promise<unknown>, count = requests): Promise<number> => {
  const before = cpuOf(child)
  let left = count
  const connection = async () => {
    while (left-- > 0) await ask()
  }
  await Promise.all(Array.from({ length: connections }, connection))
  return (cpuOf(child) - before) / count
}

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

interface Side {
  readonly platform: ChildProcess
  readonly visitor: Visitor
  /** The paths of the pages, by their names. */
  readonly pages: Readonly<Record<string, string>>
  readonly whoami: () => Promise<string>
  /** The costs of each round, by what was asked. */
  readonly costs: Map<string, Array<number>>
  readonly end: () => Promise<void>
}

/** A platform of the checkout with a person who has five projects. */
const started = async (checkout: string): Promise<Side> => {
  execFileSync(process.execPath, ["scripts/build.ts", "--programs"], { cwd: checkout, stdio: "ignore" })
  const directory = mkdtempSync(join(tmpdir(), "narthex-bench-"))
  const anyPort = ["API", "CONSOLE", "PROXY", "ADMIN"].map((name) => [`NARTHEX_${name}_PORT`, "0"] as const)
  const platform = spawn(process.execPath, [join(checkout, "packages/server/dist/narthex-platform.js")], {
    cwd: directory,
    stdio: ["ignore", "pipe", "ignore"],
    env: {
      ...process.env,
      ...Object.fromEntries(anyPort),
      NARTHEX_DEV_PROVIDER_PORTS: "0,0",
      NARTHEX_DATA_DIR: join(directory, "data"),
      NARTHEX_COMPUTE: "memory",
      NARTHEX_RATE_LIMITS: "off"
    }
  })
  const end = async () => {
    platform.kill("SIGINT")
    await once(platform, "close")
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    const ready = JSON.parse(await firstLine(platform)) as Ready // the line that the platform prints
    const visitor = new Visitor(ready.console)
    const home = await visitor.signIn("ada@example.com")
    const projects: Array<string> = []
    for (const name of ["shop", "blog", "wiki", "mail", "maps"]) projects.push(await visitor.newProject(home, name))
    const here = projects[0] ?? ""
    const pages = {
      "sign-in": "/sign-in",
      projects: `${home}/projects`,
      overview: here,
      branches: `${here}/branches`,
      endpoints: `${here}/endpoints`,
      operations: `${here}/operations`,
      allowlist: `${here}/ip-allow`,
      settings: `${here}/settings`,
      activity: `${home}/activity`,
      members: `${home}/members`,
      "api-keys": `${home}/api-keys`,
      regions: `${home}/regions`
    }
    return { platform, visitor, pages, whoami: await apiRequest(ready), costs: new Map(), end }
  } catch (error) {
    await end()
    throw error
  }
}

const add = ({ costs }: Pick<Side, "costs">, name: string, cost: number) =>
  costs.set(name, [...(costs.get(name) ?? []), cost])

/** The middle of the ratios, and its ends. */
const spread = (ratios: ReadonlyArray<number>): string => {
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)]
  return `${median(ratios).toFixed(2)}x (${least.toFixed(2)} to ${most.toFixed(2)})`
}

const sides: Array<Side> = []
let bare: ChildProcess | undefined
try {
  const own = await started(join(import.meta.dirname, ".."))
  sides.push(own)
  if (other !== undefined) sides.push(await started(other))
  const bytes = (await own.visitor.page(own.pages["overview"] ?? "")).length
  bare = spawn(process.execPath, ["-e", bareServer], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, BYTES: String(bytes) }
  })
  const { port } = JSON.parse(await firstLine(bare)) as { readonly port: number } // its only line
  const limit = { child: bare, ask: () => new Visitor(`http://127.0.0.1:${port}`).page("/") }
  for (const { pages, platform, visitor, whoami } of sides) {
    for (const path of Object.values(pages)) await measure(platform, () => visitor.page(path))
    await measure(platform, whoami)
  }
  await measure(limit.child, limit.ask)
  for (let round = 0; round < rounds; round++) {
    const turns = round % 2 === 0 ? sides : sides.toReversed()
    add(own, "bare", await measure(limit.child, limit.ask, 10 * requests))
    for (const side of turns) add(side, "whoami", await measure(side.platform, side.whoami, 5 * requests))
    for (const name of Object.keys(own.pages))
      for (const side of turns)
        add(side, name, await measure(side.platform, () => side.visitor.page(side.pages[name] ?? "")))
  }
  const least = own.costs.get("bare") ?? []
  for (const [name, rows] of own.costs) {
    const [before] = sides.slice(1).map(({ costs }) => costs.get(name))
    const compared = before?.map((cost, round) => (rows[round] ?? Number.NaN) / cost)
    console.log(
      `${name.padEnd(12)} ${median(rows).toFixed(2).padStart(7)} ms  ${Math.min(...rows).toFixed(2)} at the least` +
        (before === undefined || compared === undefined
          ? ""
          : `  other checkout ${median(before).toFixed(2)} ms, of it ${spread(compared)}`)
    )
    if (name !== "bare")
      ratio(`consolePages/${name}-of-bare`, ...rows.map((cost, round) => cost / (least[round] ?? Number.NaN)))
  }
} finally {
  bare?.kill()
  for (const { end } of sides) await end()
}
