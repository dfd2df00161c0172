/**
 * An exclusive lock on a directory, held by one process at a time.
 *
 * The lock is the kernel's: an exclusive transaction on an empty SQLite file takes a POSIX lock on that file. Exactly
 * one of two simultaneous processes gets the lock, and the kernel releases it after kill -9, so there is no stale pid
 * file to clean up or misread. The lock also works between containers that share the directory, and within one process.
 * The file remains; only the lock counts.
 */
import { closeSync, existsSync, openSync } from "node:fs"
import { readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Effect, Option } from "effect"
import { attempt, DataDirectoryLocked, LocalPostgresError } from "./LocalPostgresError.ts"

const SQLITE_BUSY = 5

/** Holds the lock until the scope closes; fails at once when another holder has it. */
export const lockDirectory = Effect.fn("lockDirectory")(function* (directory: string) {
  const file = join(directory, "lock")
  const held = yield* Effect.acquireRelease(take(file), (lock) =>
    Effect.sync(() => {
      lock?.close()
    })
  )
  if (held === undefined) return yield* new DataDirectoryLocked({ directory, holder: yield* holderOf(file) })
})

const take = (file: string) =>
  Effect.try({
    try: () => {
      make(file)
      const lock = new DatabaseSync(file, { timeout: 0 })
      try {
        lock.exec("BEGIN EXCLUSIVE")
        return lock
      } catch (cause) {
        lock.close()
        if (cause instanceof Error && "errcode" in cause && cause.errcode === SQLITE_BUSY) return undefined
        throw cause
      }
    },
    catch: (cause) => new LocalPostgresError({ operation: `Locking ${file}`, reason: String(cause) })
  })

/**
 * Creates the file if it is missing, with mode 0600: a user who can open it can lock it.
 *
 * Pitfall: opening a file that exists. Closing any descriptor of a file releases every POSIX lock of this process on
 * it.
 */
const make = (file: string) => {
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600))
}

/**
 * The pid of the holder, from the line of this inode in `/proc/locks`: `1: POSIX  ADVISORY  WRITE 4711 fe:00:2149415 0
 * EOF`.
 */
const holderOf = (file: string) =>
  attempt(`Finding the holder of ${file}`, async () => {
    const { ino } = await stat(file)
    const lines = (await readFile("/proc/locks", "utf8")).split("\n").map((line) => line.trim().split(/\s+/))
    const line = lines.find((words) => words[3] === "WRITE" && words[5]?.endsWith(`:${ino}`))
    const pid = Number(line?.[4])
    return pid > 0 ? Option.some(pid) : Option.none()
  }).pipe(Effect.orElseSucceed(() => Option.none<number>()))
