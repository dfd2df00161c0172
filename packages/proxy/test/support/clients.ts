/** Clients of the proxy: psql, postgres.js, and bare sockets for what no driver would send. */
import { spawn, spawnSync } from "node:child_process"
import { connect as connectTcp, type Socket } from "node:net"
import { connect as connectTls, type TLSSocket } from "node:tls"
import { Effect } from "effect"
import postgres from "postgres"
import { encodeStartup } from "../../src/wire/startup.ts"
import { password } from "./Cluster.ts"
import { endpoint_id } from "./MemoryControlPlane.ts"

/** Tests with `psql` are left out where it is not installed, except in CI, which must have it. */
export const withoutPsql =
  process.env["CI"] !== "true" && spawnSync("psql", ["--version"], { stdio: "ignore" }).status !== 0

if (withoutPsql)
  console.warn('Tests with psql are skipped: it is not installed. Debian\'s package is "postgresql-client".')

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end. */
export const run = (program: string, args: ReadonlyArray<string>, env: Record<string, string> = {}, input?: Buffer) =>
  new Promise<Ran>((resume, reject) => {
    const child = spawn(program, args, { env: { ...process.env, PGPASSWORD: password, ...env } })
    const out: Array<Buffer> = []
    const err: Array<Buffer> = []
    child.stdout.on("data", (chunk) => out.push(chunk))
    child.stderr.on("data", (chunk) => err.push(chunk))
    child.on("error", reject)
    child.stdin.on("error", () => {})
    child.on("close", (code) =>
      resume({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() })
    )
    child.stdin.end(input)
  })

/** libpq's connection text for the endpoint. */
export const conninfo = (port: number, more = "") =>
  `host=127.0.0.1 port=${port} user=app dbname=postgres options='endpoint=${endpoint_id}' connect_timeout=20 ${more}`

/** `VERBOSITY=verbose` so that SQLSTATE and hint can be read. */
export const psql = (port: number, sql: string, more = "", input?: Buffer) =>
  run("psql", ["-X", "-At", "-v", "VERBOSITY=verbose", "-d", conninfo(port, more), "-c", sql], {}, input)

/** postgres.js by the user suffix, one connection. */
export const sqlClient = (port: number, options: postgres.Options<Record<string, never>> = {}) =>
  postgres({
    host: "127.0.0.1",
    port,
    username: `app.${endpoint_id}`,
    password,
    database: "postgres",
    max: 1,
    onnotice: () => {},
    ...options
  })

/** The SQLSTATE with which a connection is refused. */
export const sqlstate = (port: number, options: postgres.Options<Record<string, never>> = {}) =>
  Effect.promise(async () => {
    const sql = sqlClient(port, options)
    const refused: { code?: unknown } = await sql`select 1`.then(
      () => ({ code: "none" }),
      (error) => error
    )
    await sql.end()
    return refused.code
  })

/** Everything that the other side sends until it closes. */
export const untilClosed = (socket: Socket) =>
  new Promise<Buffer>((resume) => {
    const chunks: Array<Buffer> = []
    socket.on("data", (chunk: Buffer) => chunks.push(chunk))
    socket.on("error", () => {})
    socket.on("close", () => resume(Buffer.concat(chunks)))
  })

/** Waits for bytes. */
export const once = (socket: Socket) =>
  new Promise<Buffer>((resume, reject) => {
    socket.once("data", resume)
    socket.once("close", () => reject(new Error("closed")))
  })

export const open = (port: number, localAddress = "127.0.0.1") => {
  const socket = connectTcp({ host: "127.0.0.1", port, localAddress })
  socket.on("error", () => {})
  return socket
}

/** TLS from the first byte. */
export const openTls = (port: number, servername: string, protocols: ReadonlyArray<string>): TLSSocket => {
  const socket = connectTls({
    host: "127.0.0.1",
    port,
    servername,
    ALPNProtocols: [...protocols],
    rejectUnauthorized: false
  })
  socket.on("error", () => {})
  return socket
}

export const startup = (...parameters: ReadonlyArray<readonly [string, string]>) =>
  encodeStartup({ _tag: "Startup", version: 0x30000, parameters })

export const usual = startup(["user", "app"], ["database", "postgres"], ["options", `endpoint=${endpoint_id}`])
