/**
 * A real Postgres for tests: a cluster of its own on a Unix socket, ready in a few hundred milliseconds.
 *
 * `initdb` runs once per Postgres version; its result is kept in the repository's cache and copied afterwards.
 * With `NARTHEX_TEST_DATABASE_URL` that server is used instead: databases are made on it and dropped again, and
 * nothing here can stop it (`control` is absent), so tests of an outage are skipped.
 *
 * The server hangs on a pipe of this process: when the process is killed, the pipe closes and the server stops too.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import { type PostgresPrograms, postgresPrograms } from "../../../local-postgres/testing/postgresPrograms.ts"

const run = promisify(execFile)
const cacheDirectory = resolve(import.meta.dirname, "../../../../node_modules/.cache/narthex-postgres")
const given = process.env["NARTHEX_TEST_DATABASE_URL"]

interface Control {
  /** Kills every process of the server without a checkpoint and starts it again. */
  readonly crash: Effect.Effect<void>
  /** The same, but it comes back as a promoted standby: on a new timeline, like after a failover or a restore. */
  readonly promote: Effect.Effect<void>
}

export class PostgresServer extends Context.Service<
  PostgresServer,
  {
    /** How to reach a database of this server. */
    readonly url: (database: string) => Redacted.Redacted<string>
    /** Runs one statement over a connection of its own: on this database, else on the maintenance database. */
    readonly admin: (text: string, on?: Redacted.Redacted<string>) => Effect.Effect<ReadonlyArray<PgConnection.Row>>
    /** An empty database; dropped with the scope, whoever is still connected. */
    readonly database: Effect.Effect<Redacted.Redacted<string>, never, Scope.Scope>
    /** Absent when the server is not ours. */
    readonly control: Control | undefined
  }
>()("@narthex/postgres/test/PostgresServer") {
  static readonly layer: Layer.Layer<PostgresServer> = Layer.effect(
    PostgresServer,
    Effect.suspend(() => (given === undefined ? own : Effect.succeed(serverAt(() => given, undefined))))
  )
}

type Account = PostgresPrograms["identity"]

const directoryOf = async (owner: Account): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "narthex-pg-"))
  if (owner !== undefined) await chown(directory, owner.uid, owner.gid)
  return directory
}

/** A fresh cluster in the cache; whoever loses the race for the name throws its own away. */
const initialise = async (bin: string, owner: Account, target: string): Promise<void> => {
  const scratch = await directoryOf(owner)
  const staged = `${target}.${randomBytes(6).toString("hex")}`
  try {
    const args = ["-D", join(scratch, "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]
    await run(`${bin}initdb`, args, { ...owner, cwd: scratch })
    await mkdir(cacheDirectory, { recursive: true })
    await cp(join(scratch, "data"), staged, { recursive: true })
    await rename(staged, target).catch(() => rm(staged, { recursive: true, force: true }))
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

const cluster = async (bin: string, owner: Account): Promise<string> => {
  const { stdout } = await run(`${bin}postgres`, ["--version"])
  const template = join(cacheDirectory, stdout.trim().replaceAll(/[^\w.]+/g, "-"))
  const directory = await directoryOf(owner)
  const data = join(directory, "data")
  const copy = () => cp(template, data, { recursive: true })
  await copy().catch(() => initialise(bin, owner, template).then(copy))
  await chmod(data, 0o700)
  if (owner !== undefined) await run("chown", ["-R", `${owner.uid}:${owner.gid}`, data])
  return directory
}

/** An open socket is not enough: during crash recovery the server still turns clients away. */
const ready = (data: string): Promise<boolean> =>
  readFile(join(data, "postmaster.pid"), "utf8").then(
    (status) => /^(ready|standby)/m.test(status),
    () => false
  )

/** `cat` ends when our end of the pipe does, however we ended. */
const supervised = 'exec 3<&0; "$@" </dev/null & server=$!; (cat <&3 >/dev/null; kill -INT $server) & wait $server'

const start = async (bin: string, owner: Account, directory: string): Promise<ChildProcess> => {
  const settings = ["listen_addresses=", "fsync=off", "max_connections=200", "log_min_messages=panic"]
  const args = ["-D", join(directory, "data"), "-k", directory, ...settings.flatMap((setting) => ["-c", setting])]
  const server = spawn("sh", ["-c", supervised, "sh", `${bin}postgres`, ...args], {
    ...owner,
    cwd: directory,
    stdio: ["pipe", "ignore", "ignore"]
  })
  while (!(await ready(join(directory, "data")))) {
    if (server.exitCode !== null) throw new Error("The test server did not start.")
    await new Promise((next) => setTimeout(next, 5))
  }
  return server
}

const stop = async (server: ChildProcess | undefined): Promise<void> => {
  if (server === undefined) return
  const gone = server.exitCode === null ? once(server, "exit") : undefined
  server.stdin?.end()
  await gone
}

const own: Effect.Effect<PostgresServer["Service"], never, Scope.Scope> = Effect.gen(function* () {
  const { directory: programs, identity: owner } = yield* Effect.promise(postgresPrograms)
  const bin = `${programs}/`
  const directory = yield* Effect.acquireRelease(
    Effect.promise(() => cluster(bin, owner)),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
  )
  let server: ChildProcess | undefined
  yield* Effect.acquireRelease(
    Effect.promise(async () => {
      server = await start(bin, owner, directory)
    }),
    () => Effect.promise(() => stop(server))
  )
  const data = join(directory, "data")
  const pgCtl = (...args: ReadonlyArray<string>) => run(`${bin}pg_ctl`, ["-D", data, "-w", ...args], at)
  const at = { ...owner, cwd: directory }
  const restart = async () => {
    await pgCtl("-m", "immediate", "stop")
    await stop(server)
    server = await start(bin, owner, directory)
  }
  const crash = Effect.promise(restart)
  const promote = Effect.promise(async () => {
    await writeFile(join(data, "standby.signal"), "")
    if (owner !== undefined) await chown(join(data, "standby.signal"), owner.uid, owner.gid)
    await restart()
    await pgCtl("promote")
  })
  return serverAt((database) => `postgresql:///${database}?host=${encodeURIComponent(directory)}&user=postgres`, {
    crash,
    promote
  })
})

const serverAt = (urlOf: (database: string) => string, control: Control | undefined): PostgresServer["Service"] => {
  const url = (database: string) => {
    const it = new URL(urlOf(database))
    it.pathname = `/${database}`
    return Redacted.make(it.toString())
  }
  const maintenance = given === undefined ? "postgres" : new URL(given).pathname.slice(1)
  const admin = (text: string, on = url(maintenance)) =>
    Effect.scoped(Effect.flatMap(PgConnection.make({ url: on }), (connection) => connection.query(text))).pipe(
      Effect.map((result) => result.rows),
      Effect.orDie
    )
  const database = Effect.acquireRelease(
    Effect.suspend(() => {
      const name = `narthex_test_${randomBytes(8).toString("hex")}`
      return Effect.as(admin(`create database ${name}`), name)
    }),
    (name) => admin(`drop database if exists ${name} with (force)`)
  ).pipe(Effect.map(url))
  return { url, admin, database, control }
}
