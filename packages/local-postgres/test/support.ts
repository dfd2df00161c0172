/** What the tests share: directories, passwords, sessions, and a supervising process that can be killed. */
import { spawn } from "node:child_process"
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { PgClient } from "@effect/sql-pg"
import type { ComputeRole } from "@narthex/core"
import { afterAll } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { findPostgresBinaries } from "../src/PostgresBinaries.ts"
import { findPostgresUser } from "../src/PostgresUser.ts"
import type { Task } from "./supervisor.ts"

export const isRoot = process.getuid?.() === 0

/** Which kinds of binaries this machine has: every one is tested. */
export const kinds = await Effect.runPromise(
  Effect.gen(function* () {
    const user = yield* findPostgresUser()
    const found = yield* Effect.forEach(["system", "npm"], (choice) =>
      Effect.map(
        Effect.option(findPostgresBinaries({ choice }, user)),
        Option.map((binaries) => ({ choice, ...binaries }))
      )
    )
    return found.flatMap(Option.toArray)
  })
)

/** Readable for its owner alone, as `mktemp -d` makes it: no other user gets through. */
export const closedDirectory = Effect.acquireRelease(
  Effect.promise(async () => realpath(await mkdtemp(join(tmpdir(), "narthex-test-")))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** One `initdb` a kind for all tests of a file, made by the first that needs it. */
const templates = kinds.map(() => mkdtemp(join(tmpdir(), "narthex-test-templates-")))
afterAll(() => Promise.all(templates.map(async (path) => rm(await path, { recursive: true, force: true }))))

/** A data directory for `kinds[kind]` that shares its template with others. */
export const dataDirectory = (kind: number, ...within: ReadonlyArray<string>) =>
  Effect.flatMap(closedDirectory, (directory) =>
    Effect.promise(async () => {
      const dataDir = join(directory, ...within)
      await mkdir(dataDir, { recursive: true })
      await symlink((await templates[kind]) ?? "", join(dataDir, "templates"))
      return dataDir
    })
  )

/** What Postgres keeps of a password (RFC 5803). */
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

/** A session as a user of the platform has one. */
export const session = (path: string, role: string, password = role) =>
  Effect.provide(
    PgClient.makeClient({ path, database: "postgres", username: role, password: Redacted.make(password) }),
    Reactivity.layer
  )

export const postmasterPid = (data: string) => Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0])

/** The uid that a process runs as. */
export const uidOf = (pid: number) => Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1])

/** Runs a task in a process of its own, which stays until it is killed, and answers its first line. */
export const supervise = (task: Task) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const script = fileURLToPath(new URL("./supervisor.ts", import.meta.url))
        const child = spawn(process.execPath, ["--conditions=source", script, JSON.stringify(task)], {
          stdio: ["pipe", "pipe", "inherit"]
        })
        const ended = new Promise<void>((resolve) => {
          child.once("exit", () => resolve())
        })
        const lines = createInterface({ input: child.stdout })
        const first = await Promise.race([new Promise<string>((resolve) => lines.once("line", resolve)), ended])
        const end = async (signal: NodeJS.Signals) => {
          child.kill(signal)
          await ended
        }
        return { pid: child.pid, said: first === undefined ? undefined : JSON.parse(first), end }
      }),
      ({ end }) => Effect.promise(() => end("SIGTERM"))
    ),
    ({ end, pid, said }) => ({ pid, said, end: (signal: NodeJS.Signals) => Effect.promise(() => end(signal)) })
  )
