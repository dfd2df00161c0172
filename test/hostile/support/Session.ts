/**
 * A database session through the proxy, from an address of its own.
 *
 * The client is `@effect/sql-pg`, because a lost connection never ends its process (docs/adr/0001-postgres-driver.md)
 * and it takes the socket from its caller. The end of a session is read from that socket, not from a statement: a session
 * that is idle, or that reads nothing, would not notice it.
 */
import { connect, type Socket } from "node:net"
import { make, type PgConnection } from "@effect/sql-pg/PgConnection"
import { Effect, Exit, Redacted, Scope } from "effect"
import { until } from "../../harness/eventually.ts"

export interface Session {
  /** Runs one statement. Rejects with the driver's error, of which `sqlstate` has the code. */
  readonly query: (statement: string) => Promise<ReadonlyArray<Record<string, unknown>>>
  readonly socket: Socket
  /** Whether the other side has ended the connection. */
  readonly hasEnded: () => boolean
  /** Ends it without waiting for anything. */
  readonly close: () => void
}

/** A socket to the proxy of a connection string, from an address such as `127.0.1.1`. */
export const dial = (uri: string, from: string): Socket => {
  const { hostname, port } = new URL(uri)
  const socket = connect({ host: hostname, port: Number(port), localAddress: from, noDelay: true })
  socket.on("error", () => undefined) // What it broke says so.
  return socket
}

/** Logs in. The connection is never opened again once it was lost. */
export const openSession = async (uri: string, from: string): Promise<Session> => {
  const scope = Scope.makeUnsafe()
  let socket: Socket | undefined
  let ended = false
  let closed = false
  const stream = () => {
    const dialled = dial(uri, from)
    // The driver dials again for a cancel request; the first one is the session's.
    if (socket === undefined) {
      socket = dialled
      const end = () => {
        ended ||= !closed
      }
      // Pitfall: waiting for "end". The driver destroys the socket when a FATAL error arrives, before it has been read.
      dialled.once("close", end)
    }
    return dialled
  }
  const close = () => {
    closed = true
    socket?.destroy()
    Effect.runFork(Scope.close(scope, Exit.void))
  }
  const config = { url: Redacted.make(uri), stream, connectTimeout: "40 seconds", prepare: false } as const
  try {
    const connection: PgConnection = await Effect.runPromise(Scope.provide(make(config), scope))
    return {
      query: (statement) =>
        Effect.runPromise(connection.query(statement)).then(
          ({ rows }) => rows,
          (error: unknown) => Promise.reject(plain(statement, error))
        ),
      socket: socket ?? dial(uri, from),
      hasEnded: () => ended,
      close
    }
  } catch (error) {
    close()
    throw plain(`Logging in as ${new URL(uri).username} from ${from}`, error)
  }
}

/** An error that a test can extend by a log: the message of a driver's error cannot be changed. */
const plain = (what: string, error: unknown) => {
  const cause = typeof error === "object" && error !== null && "reason" in error ? error.reason : error
  const inner = typeof cause === "object" && cause !== null && "cause" in cause ? cause.cause : cause
  return new Error(`${what}: ${sqlstate(error) ?? ""} ${String(inner)}`, { cause: error })
}

/** No places are left; the compute restarts, or did not start in time; this client was too slow to authenticate. */
const passing: ReadonlyArray<string> = ["53300", "57P03", "08006"]

/** As `openSession`, but repeats what was refused with one of these codes, as clients do. */
export const eventuallyOpen = async (uri: string, from: string, repeated = passing): Promise<Session> => {
  let opened: Session | undefined
  await until(
    `a session from ${from}`,
    async () => {
      try {
        opened = await openSession(uri, from)
      } catch (error) {
        if (!repeated.includes(sqlstate(error) ?? "")) throw error
      }
      return opened !== undefined
    },
    { every: 100, limit: 180_000 }
  )
  return opened ?? openSession(uri, from)
}

/** The SQLSTATE of an error of the driver; `undefined` where the server did not answer. */
export const sqlstate = (error: unknown): string | undefined => {
  for (let at: unknown = error, depth = 0; typeof at === "object" && at !== null && depth < 5; depth++) {
    const code: unknown = Reflect.get(at, "code")
    if (typeof code === "string" && /^[0-9A-Z]{5}$/.test(code)) return code
    at = Reflect.get(at, "reason") ?? Reflect.get(at, "cause")
  }
  return undefined
}

/** Whether a connection string is accepted: `in`, the SQLSTATE that refuses it, or `silent` without an answer. */
export const login = async (uri: string, from: string): Promise<string> => {
  try {
    const session = await openSession(uri, from)
    try {
      await session.query("select 1")
      return "in"
    } finally {
      session.close()
    }
  } catch (error) {
    return sqlstate(error) ?? "silent"
  }
}
