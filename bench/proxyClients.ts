/** The clients of `bench/proxy.ts`: pgbench, COPY, idle sessions, and clients that are refused. */
import { execFile } from "node:child_process"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { join } from "node:path"
import { connect as secureConnect } from "node:tls"
import { promisify } from "node:util"
import { encodeStartup } from "../packages/proxy/src/wire/startup.ts"
import { role } from "../packages/proxy/test/support/credentials.ts"
import { session } from "../packages/proxy/test/support/session.ts"
import { closed_endpoint_id } from "./proxyCluster.ts"

const run = promisify(execFile)

/** Units of work, and the seconds that they took. */
export interface Work {
  readonly units: number
  readonly seconds: number
}

/** Runs pgbench with prepared selects of one row. A unit is a transaction. */
export const pgbench = async (
  bin: string,
  connection: string,
  seconds: number,
  flags: ReadonlyArray<string>
): Promise<Work> => {
  const args = ["-n", "-S", "-M", "prepared", "-T", String(seconds), ...flags, connection]
  const { stdout } = await run(join(bin, "pgbench"), args)
  const units = Number(/transactions actually processed: (\d+)/.exec(stdout)?.[1])
  return { units, seconds: units / Number(/tps = ([\d.]+)/.exec(stdout)?.[1]) }
}

/** Copies rows of 1,000 bytes to the client. A unit is a gigabyte. */
export const copyOut = async (bin: string, connection: string, megabytes: number): Promise<Work> => {
  const statement = `\\copy (select repeat('x', 999) from generate_series(1, ${megabytes * 1_000})) to /dev/null`
  const began = performance.now()
  await run(join(bin, "psql"), ["-X", "-q", "-c", statement, connection])
  return { units: megabytes / 1_000, seconds: (performance.now() - began) / 1_000 }
}

const startup = (id: string) =>
  encodeStartup({
    _tag: "Startup",
    version: 0x30000,
    parameters: [
      ["user", role],
      ["database", "postgres"],
      ["options", `endpoint=${id}`]
    ]
  })

/** Opens sessions that have authenticated, 50 at a time. */
export const openSessions = async (port: number, count: number): Promise<ReadonlyArray<Socket>> => {
  const sockets: Array<Socket> = []
  let begun = 0
  const next = async () => {
    while (begun++ < count) sockets.push((await session(port, "select 1")).socket)
  }
  await Promise.all(Array.from({ length: 50 }, next))
  return sockets
}

const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])

/** Connects and waits for the end. Fails if the connection was not refused with 28000. */
const refused = async (port: number, tls: boolean) => {
  let socket: Socket = connect(port, "127.0.0.1")
  socket.setNoDelay()
  if (tls) {
    socket.write(sslRequest)
    await once(socket, "data")
    socket = secureConnect({ socket, rejectUnauthorized: false })
    await once(socket, "secureConnect")
  }
  let answer = ""
  socket.setEncoding("latin1").on("data", (text: string) => {
    answer += text
  })
  socket.write(startup(closed_endpoint_id))
  await once(socket, "close")
  if (!answer.includes("C28000")) throw new Error(`a client was not refused: ${JSON.stringify(answer)}`)
}

/** Does it again and again, 16 at a time. */
const repeatedly = async (seconds: number, once: () => Promise<void>): Promise<Work> => {
  const began = performance.now()
  const until = began + seconds * 1_000
  let units = 0
  const next = async () => {
    for (; performance.now() < until; units++) await once()
  }
  await Promise.all(Array.from({ length: 16 }, next))
  return { units, seconds: (performance.now() - began) / 1_000 }
}

/** Clients that are refused. A unit is a client. */
export const refusals = (port: number, tls: boolean, seconds: number): Promise<Work> =>
  repeatedly(seconds, () => refused(port, tls))

/** Clients with a wrong password, at a compute that they never reach. A unit is a client. */
export const wrongPasswords = (port: number, seconds: number): Promise<Work> =>
  repeatedly(seconds, async () => {
    const answer = await session(port, "select 1", undefined, "wrong").then(
      () => "a session",
      ({ message }: Error) => message
    )
    if (!answer.includes("C28P01")) throw new Error(`a wrong password was not refused: ${JSON.stringify(answer)}`)
  })

const terminate = Buffer.from([0x58, 0, 0, 0, 4])

/** Clients that authenticate and leave. A unit is a client. */
export const connections = (port: number, seconds: number): Promise<Work> =>
  repeatedly(seconds, async () => {
    const { socket } = await session(port, "select 1")
    socket.end(terminate)
    await once(socket, "close")
  })
