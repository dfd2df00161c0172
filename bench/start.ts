/**
 * The start of the platform from a built checkout: `scripts/start.sh` until the line that says that it is ready, on a data
 * directory that exists, against `node -e 0`; and the memory of its idle processes against an idle server of `node:http`.
 *
 * `node --conditions=source bench/start.ts [rounds]`, by default 5. The programs of this checkout are built first. They
 * take turns; results are medians. Linux only: CPU and memory are read from `/proc`.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { ratio } from "./ratios.ts"

const rounds = Number(process.argv[2] ?? 5)
const root = join(import.meta.dirname, "..")
const directory = mkdtempSync(join(tmpdir(), "narthex-bench-"))

/** Milliseconds of idleness before memory is read: the runner, the console and the store have settled. */
const settling = 3_000

/** Milliseconds of a tick of the kernel's clock. */
const tick = 10

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

const statusOf = (pid: number) => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8")
    const fields = text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number)
    const [parent = 0, times] = [fields[1], fields.slice(11, 15)]
    return { parent, cpu: times.reduce((sum, ticks) => sum + ticks * tick, 0) }
  } catch {
    return undefined // It has ended.
  }
}

/** A process and its descendants that live. */
const treeOf = (pid: number): ReadonlyArray<number> => {
  const children = new Map<number, Array<number>>()
  for (const name of readdirSync("/proc").filter((it) => /^\d+$/.test(it))) {
    const parent = statusOf(Number(name))?.parent
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const below = (of: number): ReadonlyArray<number> => [of, ...(children.get(of) ?? []).flatMap(below)]
  return below(pid)
}

/** Milliseconds of CPU of a tree, with those of children that have ended. */
const cpuOf = (pid: number): number => treeOf(pid).reduce((sum, it) => sum + (statusOf(it)?.cpu ?? 0), 0)

/** The proportional memory of a process, in MB: what it shares with others counts in part. */
const memoryOf = (pid: number): number => {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

const memoryOfTree = (pid: number): number => treeOf(pid).reduce((sum, it) => sum + memoryOf(it), 0)

const lineOf = async (child: ChildProcess, begins: string): Promise<void> => {
  if (child.stdout === null) throw new Error("The output is not piped.")
  for await (const line of createInterface({ input: child.stdout })) if (line.startsWith(begins)) return
  throw new Error(`It ended with ${child.exitCode ?? child.signalCode} before it was ready.`)
}

const ended = async (child: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
  const exit = once(child, "exit")
  child.kill(signal)
  await exit
}

const anyPorts = {
  ...{ NARTHEX_API_PORT: "0", NARTHEX_CONSOLE_PORT: "0", NARTHEX_PROXY_PORT: "0", NARTHEX_ADMIN_PORT: "0" },
  NARTHEX_DEV_PROVIDER_PORTS: "0,0"
}

const platform = async () => {
  const began = performance.now()
  const env = {
    HOME: directory,
    PATH: process.env["PATH"] ?? "",
    NARTHEX_DATA_DIR: join(directory, "data"),
    ...anyPorts
  }
  const child = spawn("sh", ["scripts/start.sh"], { cwd: root, env, stdio: ["ignore", "pipe", "ignore"] })
  const pid = child.pid ?? 0
  await lineOf(child, "{")
  const result = { clock: performance.now() - began, cpu: cpuOf(pid) }
  await sleep(settling)
  const memory = { node: memoryOf(pid), all: memoryOfTree(pid) }
  await ended(child, "SIGINT")
  return { ...result, memory }
}

const nothing = async () => {
  const began = performance.now()
  await once(spawn(process.execPath, ["-e", "0"]), "exit")
  return performance.now() - began
}

const bareServer = 'require("node:http").createServer().listen(0, "127.0.0.1", () => console.log("ready"))'

const bare = async () => {
  const child = spawn(process.execPath, ["-e", bareServer], { stdio: ["ignore", "pipe", "ignore"] })
  await lineOf(child, "ready")
  await sleep(settling)
  const memory = memoryOf(child.pid ?? 0)
  await ended(child, "SIGTERM")
  return memory
}

try {
  await platform() // Builds what is outdated, and creates the data directory.
  const taken = []
  for (let round = 0; round < rounds; round++)
    taken.push({ nothing: await nothing(), platform: await platform(), bare: await bare() })

  const starts = taken.map((it) => it.platform.clock / it.nothing)
  const memories = taken.map((it) => it.platform.memory.all / it.bare)
  const of = (values: ReadonlyArray<number>, unit: string) =>
    `${median(values).toFixed(0)} ${unit} (${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)})`
  console.log(
    `node -e 0: ${of(
      taken.map((it) => it.nothing),
      "ms"
    )}`
  )
  console.log(
    `built checkout to ready: ${of(
      taken.map((it) => it.platform.clock),
      "ms"
    )}`
  )
  console.log(
    `  CPU of all its processes: ${of(
      taken.map((it) => it.platform.cpu),
      "ms"
    )}`
  )
  console.log(
    `idle memory (PSS): ${of(
      taken.map((it) => it.platform.memory.all),
      "MB"
    )}`
  )
  console.log(
    `  of which Node: ${of(
      taken.map((it) => it.platform.memory.node),
      "MB"
    )}`
  )
  console.log(
    `  an idle server of node:http: ${of(
      taken.map((it) => it.bare),
      "MB"
    )}`
  )
  ratio("start/ready-of-node", ...starts)
  ratio("start/memory-of-node-http", ...memories)
} finally {
  rmSync(directory, { recursive: true, force: true })
}
