/** Clients of the proxy: postgres.js, and plain sockets for what no driver sends. */
import { connect as connectTcp, type Socket } from "node:net"
import { connect as connectTls, type TLSSocket } from "node:tls"
import { Effect } from "effect"
import postgres from "postgres"
import { until, within } from "../../../../test/harness/eventually.ts"
import { encodeStartup } from "../../src/wire/startup.ts"
import { password, role } from "./credentials.ts"
import { endpoint_id } from "./MemoryControlPlane.ts"

/** postgres.js with the endpoint as user suffix and one connection. */
export const sqlClient = (port: number, options: postgres.Options<Record<string, never>> = {}) =>
  postgres({
    host: "127.0.0.1",
    port,
    username: `${role}.${endpoint_id}`,
    password,
    database: "postgres",
    max: 1,
    connect_timeout: 40,
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

/** Waits until Postgres runs this statement for another session. */
export const untilRuns = (observer: postgres.Sql, statement: string) =>
  until(
    `Postgres to run "${statement}"`,
    async () => {
      const sessions =
        await observer`select from pg_stat_activity where state = 'active' and query = ${statement} and pid <> pg_backend_pid()`
      return sessions.length > 0
    },
    { every: 20 }
  )

/** Everything that the other side sends until it closes. */
export const untilClosed = (socket: Socket) => {
  const closed = new Promise<Buffer>((resume) => {
    const chunks: Array<Buffer> = []
    socket.on("data", (chunk: Buffer) => chunks.push(chunk))
    socket.on("error", () => {})
    socket.on("close", () => resume(Buffer.concat(chunks)))
  })
  return within("the proxy to close the connection", closed).finally(() => socket.destroy())
}

/** Waits for bytes. */
export const once = (socket: Socket) => {
  const bytes = new Promise<Buffer>((resume, reject) => {
    socket.once("data", resume)
    socket.once("close", () => reject(new Error("closed")))
  })
  return within("bytes from the proxy", bytes)
}

export const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** Whether the proxy, which must have no certificate, accepts a connection from this address. */
export const takesConnection = async (port: number, from?: string): Promise<boolean> => {
  const socket = open(port, from)
  socket.write(sslRequest)
  const answer = await once(socket).then(
    (bytes) => bytes.toString(),
    () => "" // Closed without an answer, or a failure that the next attempt shows too.
  )
  socket.destroy()
  return answer === "N"
}

export const open = (port: number, localAddress = "127.0.0.1") => {
  const socket = connectTcp({ host: "127.0.0.1", port, localAddress })
  socket.on("error", () => {})
  return socket
}

/** TLS from the first byte, or over a connection that negotiated it. */
export const openTls = (
  port: number,
  servername: string,
  protocols: ReadonlyArray<string>,
  over: Socket = open(port)
): TLSSocket => {
  const socket = connectTls({ socket: over, servername, ALPNProtocols: [...protocols], rejectUnauthorized: false })
  socket.on("error", () => {})
  return socket
}

export const startup = (...parameters: ReadonlyArray<readonly [string, string]>) =>
  encodeStartup({ _tag: "Startup", version: 0x30000, parameters })

export const usual = startup(["user", role], ["database", "postgres"], ["options", `endpoint=${endpoint_id}`])
