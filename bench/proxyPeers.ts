/** The relays that `bench/proxy.ts` compares, each a process: Narthex, a bare pipe of Node, HAProxy and PgBouncer. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { type AddressInfo, connect, createServer } from "node:net"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { password, role } from "../packages/proxy/test/support/credentials.ts"

export interface Relay {
  readonly name: string
  readonly port: number
  /** CPU time of the process and its workers so far, in microseconds. */
  readonly cpu: () => number
  /** Resident memory of the process after a collection of garbage, in bytes. */
  readonly memory: () => Promise<number>
  readonly stop: () => Promise<void>
}

const threads = (pid: number) => readdirSync(`/proc/${pid}/task`).map((id) => `/proc/${pid}/task/${id}`)

export const childrenOf = (pid: number) =>
  threads(pid).flatMap((task) => readFileSync(`${task}/children`, "utf8").split(" ").filter(Boolean).map(Number))

/** With its workers, by the scheduler's clock: `/proc/<pid>/stat` counts in steps of 10 ms. */
export const cpuOf = (pid: number) => (): number =>
  threads(pid).reduce((sum, task) => sum + Number(readFileSync(`${task}/schedstat`, "utf8").split(" ")[0]) / 1_000, 0) +
  childrenOf(pid).reduce((sum, child) => sum + cpuOf(child)(), 0)

export const residentOf = (pid: number) =>
  Number(/^Rss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1]) * 1_024

const stopped = async (child: ChildProcess) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, "exit")
  child.kill("SIGKILL")
  await exit
}

/** A process of `proxyServer.ts`. Its port is 0 if it listens on a path. */
export const startNode = async (
  name: string,
  kind: "proxy" | "processes" | "pipe" | "pipes" | "refuser" | "compute",
  address: string,
  folder: string
): Promise<Relay> => {
  const program = join(import.meta.dirname, "proxyServer.ts")
  const flags = ["--conditions=source", "--expose-gc", ...(process.env["BENCH_NODE_FLAGS"]?.split(" ") ?? [])]
  const child = spawn(process.execPath, [...flags, program, kind, address, folder], {
    stdio: ["pipe", "pipe", "inherit"]
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  // The first line has this shape.
  const { port } = JSON.parse((await lines.next()).value ?? "{}") as { port: number }
  const pid = child.pid ?? 0
  const memory = async () => {
    for (const _ of [1, 2]) {
      child.stdin.write("gc\n")
      await lines.next()
    }
    return residentOf(pid)
  }
  return { name, port, cpu: cpuOf(pid), memory, stop: () => stopped(child) }
}

export const freePort = async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  // A TCP server has this type of address.
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}

export const accepts = (port: number) =>
  new Promise<boolean>((resume) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => resume(true)).once("error", () => resume(false))
    socket.once("connect", () => socket.destroy())
  })

const startProgram = async (
  name: string,
  path: string,
  args: ReadonlyArray<string>,
  port: number,
  identity: object
): Promise<Relay> => {
  const child = spawn(path, args, { stdio: "ignore", ...identity })
  const until = performance.now() + 10_000
  while (!(await accepts(port))) {
    if (performance.now() > until) throw new Error(`${name} does not listen`)
    await new Promise((resume) => setTimeout(resume, 20))
  }
  const pid = child.pid ?? 0
  return { name, port, cpu: cpuOf(pid), memory: async () => residentOf(pid), stop: () => stopped(child) }
}

export const installed = (paths: ReadonlyArray<string>) => paths.find((path) => existsSync(path))

/** HAProxy in TCP mode with one thread or more; `undefined` where it is not installed. */
export const startHaproxy = async (address: string, folder: string, workers: number): Promise<Relay | undefined> => {
  const path = installed(["/usr/sbin/haproxy", "/usr/local/sbin/haproxy"])
  if (path === undefined) return undefined
  const port = await freePort()
  const file = join(folder, `haproxy-${workers}.cfg`)
  writeFileSync(
    file,
    `global
  nbthread ${workers}
  maxconn 8000
defaults
  mode tcp
  timeout connect 5s
  timeout client 1h
  timeout server 1h
frontend clients
  bind 127.0.0.1:${port}
  default_backend computes
backend computes
  server compute unix@${address}
`
  )
  return startProgram("HAProxy", path, ["-db", "-f", file], port, {})
}

/** PgBouncer with a server connection for each session; `undefined` where it is not installed. */
export const startPgbouncer = async (address: string, folder: string): Promise<Relay | undefined> => {
  const path = installed(["/usr/sbin/pgbouncer", "/usr/local/bin/pgbouncer"])
  if (path === undefined) return undefined
  const port = await freePort()
  const own = join(folder, "pgbouncer")
  mkdirSync(own)
  chmodSync(own, 0o755)
  const file = join(own, "pgbouncer.ini")
  writeFileSync(
    file,
    `[databases]
* = host=${dirname(address)} port=5432 user=${role} password='${password}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = session
max_client_conn = 500
default_pool_size = 80
server_reset_query =
`
  )
  // PgBouncer refuses to run as root.
  const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }))
  const identity = process.getuid?.() === 0 ? { uid: id("-u"), gid: id("-g") } : {}
  return startProgram("PgBouncer", path, [file], port, identity)
}
