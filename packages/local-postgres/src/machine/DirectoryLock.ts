/**
 * A directory belongs to one process at a time.
 *
 * The lock is the kernel's: an exclusive transaction on an empty SQLite file, which is a POSIX lock on that file.
 * Of two simultaneous starters exactly one wins, and after kill -9 there is nothing to clean up or to misread, as
 * there is with a file that names a pid. It also holds between containers that share the directory, and within
 * one process. The file stays; only the lock on it means something.
 */
import { closeSync, existsSync, openSync } from "node:fs"
import { readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Effect, Option } from "effect"
import { attempt, DataDirectoryLocked, LocalPostgresError } from "./LocalPostgresError.ts"

const SQLITE_BUSY = 5

/** Holds the directory until the scope closes; fails at once when somebody else has it. */
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
 * Ours alone, or anybody could hold a lock on it. Only when it is not there: to close a descriptor of a file ends
 * every lock that this process has on it.
 */
const make = (file: string) => {
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600))
}

/** `/proc/locks` names who holds a lock on this inode: `1: POSIX  ADVISORY  WRITE 4711 fe:00:2149415 0 EOF`. */
const holderOf = (file: string) =>
  attempt(`Reading who holds ${file}`, async () => {
    const { ino } = await stat(file)
    const lines = (await readFile("/proc/locks", "utf8")).split("\n").map((line) => line.trim().split(/\s+/))
    const line = lines.find((words) => words[3] === "WRITE" && words[5]?.endsWith(`:${ino}`))
    const pid = Number(line?.[4])
    return pid > 0 ? Option.some(pid) : Option.none()
  }).pipe(Effect.orElseSucceed(() => Option.none<number>()))
