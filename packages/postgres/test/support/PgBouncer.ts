/**
 * A PgBouncer in front of the tests' server, in transaction mode: a client holds a session for one transaction, and the
 * next transaction gets the next session in turn. It refuses to run as root, so root starts it under the account of
 * Postgres.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Context, Effect, Layer, Redacted } from "effect"
import { until, within } from "../../../../test/harness/eventually.ts"
import { programPath } from "../../../../test/harness/requirements.ts"
import { postgresPrograms } from "../../../local-postgres/testing/postgresPrograms.ts"
import { PostgresServer } from "./PostgresServer.ts"

/** Sessions with the server for each database: fewer than the clients, so that they share. */
export const sessions = 4

/** How PgBouncer reaches the server that this URL names. */
const serverOf = (url: URL): string => {
  const host = url.searchParams.get("host") ?? url.hostname
  const user = url.searchParams.get("user") ?? decodeURIComponent(url.username)
  const password = decodeURIComponent(url.password)
  return [`host=${host}`, `port=${url.port || 5432}`, `user=${user}`, password && `password=${password}`].join(" ")
}

const configuration = (directory: string, server: string) => `[databases]
* = ${server}
[pgbouncer]
unix_socket_dir = ${directory}
listen_port = 5432
auth_type = any
pool_mode = transaction
default_pool_size = ${sessions}
max_client_conn = 200
server_round_robin = 1
log_connections = 0
log_disconnections = 0
`

const isOpen = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path)
    const answer = (open: boolean) => {
      socket.destroy()
      resolve(open)
    }
    socket.once("connect", () => answer(true))
    socket.once("error", () => answer(false))
  })

const start = async (server: string) => {
  const { identity } = await postgresPrograms()
  const directory = await mkdtemp(join(tmpdir(), "narthex-pgbouncer-"))
  const file = join(directory, "pgbouncer.ini")
  await writeFile(file, configuration(directory, server))
  if (identity !== undefined) for (const path of [directory, file]) await chown(path, identity.uid, identity.gid)
  const child = spawn(programPath("pgbouncer") ?? "pgbouncer", [file], {
    ...identity,
    cwd: directory,
    stdio: ["ignore", "ignore", "pipe"]
  })
  let said = ""
  child.stderr.on("data", (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-4_000)
  })
  const closed = once(child, "close")
  const isReady = () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}: ${said}`)
    return isOpen(join(directory, ".s.PGSQL.5432"))
  }
  await until("PgBouncer to accept connections", isReady)
  const stop = async () => {
    child.kill("SIGKILL")
    await within("PgBouncer to end", closed)
    console.info(said)
    await rm(directory, { recursive: true, force: true })
  }
  return { directory, stop }
}

export class PgBouncer extends Context.Service<
  PgBouncer,
  {
    /** The way through the pooler to the database of a direct URL. */
    readonly pooled: (direct: Redacted.Redacted<string>) => Redacted.Redacted<string>
  }
>()("@narthex/postgres/test/PgBouncer") {
  static readonly layer = Layer.effect(
    PgBouncer,
    Effect.gen(function* () {
      const { url } = yield* PostgresServer
      const server = serverOf(new URL(Redacted.value(url("postgres"))))
      const { directory } = yield* Effect.acquireRelease(
        Effect.promise(() => start(server)),
        ({ stop }) => Effect.promise(stop)
      )
      return PgBouncer.of({
        pooled: (direct) => {
          const { pathname } = new URL(Redacted.value(direct))
          // The driver's limit is 5 s, as for `PostgresServer`.
          const query = new URLSearchParams({ host: directory, user: "pooled", connect_timeout: "60" })
          return Redacted.make(`postgresql://${pathname}?${query}`)
        }
      })
    })
  ).pipe(Layer.provideMerge(PostgresServer.layer))
}
