/** Shared by the tests: directories, passwords, sessions, and a supervising process that can be killed. */
import { spawn } from "node:child_process"
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { mkdtemp, realpath, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { PgClient } from "@effect/sql-pg"
import type { ComputeRole } from "@narthex/core"
import { Effect, Option, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { within } from "../../../test/harness/eventually.ts"
import { program } from "../../../test/harness/programs.ts"
import { requirements } from "../../../test/harness/requirements.ts"
import { enterCpuGroup } from "../../../test/support/cpuGroups.ts"
import { useClusterTemplates } from "../testing/clusterTemplates.ts"
import { postgresAskedFor } from "../testing/postgresPrograms.ts"
import { scratchParent } from "../testing/scratchParent.ts"
import type { Task } from "./supervisor.ts"

/** A kind of Postgres programs: `NARTHEX_POSTGRES_BIN`, and the tag of tests that need it. */
export interface Kind {
  readonly choice: "system" | "npm"
  readonly tag: string
}

const system: Kind = { choice: "system", tag: "system-postgres" }
const npm: Kind = { choice: "npm", tag: "npm-postgres" }

const hasSystem = requirements.some(({ isMet, name }) => name === system.tag && isMet())

/**
 * The kinds of Postgres, also those that this machine lacks. Tests for which the kind does not matter use the first.
 */
export const kinds: readonly [Kind, Kind] =
  (postgresAskedFor() ?? (hasSystem ? "system" : "npm")) === "system" ? [system, npm] : [npm, system]

const closedDirectoryIn = (parent: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => realpath(await mkdtemp(join(parent, "narthex-test-")))),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
  )

/** A directory that no other user can enter, as `mktemp -d` makes it. */
export const closedDirectory = closedDirectoryIn(scratchParent())

/** The same, on a file system that can execute programs. */
export const closedProgramDirectory = closedDirectoryIn(tmpdir())

/** A data directory for `kinds[kind]`. `initdb` runs only the first time on this machine. */
export const dataDirectory = (kind: 0 | 1, ...within: ReadonlyArray<string>) =>
  Effect.flatMap(closedDirectory, (directory) =>
    Effect.promise(async () => {
      const dataDir = join(directory, ...within)
      await useClusterTemplates(dataDir, kinds[kind].choice)
      return dataDir
    })
  )

/** The SCRAM verifier of a password (RFC 5803), as Postgres stores it. */
const verifierOf = (password: string) => {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, 4096, 32, "sha256")
  const keyed = (text: string) => createHmac("sha256", salted).update(text).digest()
  const stored = createHash("sha256").update(keyed("Client Key")).digest("base64")
  return `SCRAM-SHA-256$4096:${salt.toString("base64")}$${stored}:${keyed("Server Key").toString("base64")}`
}

/** The password is the role's name. */
export const minted = (role: string, access: ComputeRole["access"]): ComputeRole => ({
  role,
  access,
  verifier: verifierOf(role),
  expires_at: Option.none()
})

/** Opens a session as a user of the platform does. */
export const session = (path: string, role: string, password = role) =>
  Effect.provide(
    PgClient.makeClient({
      path,
      database: "postgres",
      username: role,
      password: Redacted.make(password),
      // The driver's limit is 5 s, and the server yields the CPU.
      connectTimeout: "60 seconds"
    }),
    Reactivity.layer
  )

const postmasterFile = (data: string) => readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")

export const postmasterPid = (data: string) => Number(postmasterFile(data)[0])

/** The state in `postmaster.pid`: `starting`, `ready`, … */
export const postmasterStatus = (data: string) => postmasterFile(data)[7]?.trim()

/** The uid that a process runs as. */
export const uidOf = (pid: number) => Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1])

/** Milliseconds, for loading modules, making a cluster and a recovery. */
const superviseLimit = 60_000

/** Runs a task in a separate process, which runs until it is killed, and returns its first line. */
export const supervise = (task: Task) =>
  Effect.acquireRelease(
    Effect.promise(() => start(task)),
    ({ end }) => end("SIGTERM")
  )

const start = async (task: Task) => {
  const script = await program("postgres-supervisor")
  const child = spawn(process.execPath, [script, JSON.stringify(task)], {
    stdio: ["pipe", "pipe", "pipe"]
  })
  if (task.cpuGroup !== undefined && child.pid !== undefined) enterCpuGroup(task.cpuGroup, child.pid)
  let complaint = ""
  child.stderr.on("data", (chunk: Buffer) => {
    complaint += chunk.toString()
  })
  const ended = once(child, "close")
  const failed = ended.then(() => {
    throw new Error(`The supervising process ended without output: ${complaint}`)
  })
  failed.catch(() => undefined)
  const line = once(createInterface({ input: child.stdout }), "line")
  const [first] = await within("the supervising process to start", Promise.race([line, failed]), superviseLimit)
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    await within(`the supervising process to end by ${signal}`, ended, superviseLimit)
    if (complaint !== "") console.info(complaint)
  }
  return {
    pid: child.pid,
    said: JSON.parse(first),
    end: (signal: NodeJS.Signals) => Effect.promise(() => end(signal))
  }
}
