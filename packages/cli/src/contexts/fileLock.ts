/**
 * A lock between processes around read-modify-write of a file: a second file, `<path>.lock`, that exists while the lock
 * is held. The system has no lock that Node can take and that ends with its process, so a crash leaves the file.
 *
 * 1. Create the file with `O_EXCL`. It names the machine, the process and a token. 2. If it exists and its owner is gone,
 * rename it away, and go to 1. 3. Before the change is written, check that the file still has the own token. 4. Remove it.
 *
 * Pitfall: step 2 without step 3. Between the look at an abandoned lock and its removal another process can have
 * removed it and taken the lock; step 2 then removes a lock that is held. Its holder notices in step 3 and starts over.
 * Pitfall: the time of a file compared with the clock of this machine. The file system may be another machine's.
 */
import { randomBytes } from "node:crypto"
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { hostname } from "node:os"
import { dirname } from "node:path"

/** A holder works for milliseconds. From this age on, a lock is abandoned even if its process cannot be looked up. */
const longest = 30_000

export interface HeldLock {
  /** Whether the lock is still held: checked directly before the change is written. */
  readonly isHeld: () => boolean
  readonly release: () => void
}

/** Returns `undefined` if another process holds the lock. */
export const tryLock = (path: string): HeldLock | undefined => {
  const lock = `${path}.lock`
  const owner = `${hostname()} ${process.pid} ${randomBytes(8).toString("hex")}`
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    writeFileSync(lock, owner, { flag: "wx", mode: 0o600 })
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error
    removeAbandoned(lock)
    return undefined
  }
  const isHeld = () => textOf(lock) === owner
  return {
    isHeld,
    release: () => {
      if (isHeld()) rmSync(lock, { force: true })
    }
  }
}

const removeAbandoned = (lock: string): void => {
  const owner = textOf(lock)
  const age = ageOf(lock)
  if (owner === undefined || age === undefined || !isAbandoned(owner, age)) return
  const aside = `${lock}.${randomBytes(8).toString("hex")}`
  try {
    renameSync(lock, aside)
  } catch (error) {
    if (hasCode(error, "ENOENT")) return
    throw error
  }
  rmSync(aside, { force: true })
}

/** A lock without content is being created, or its process died in that instant: its age decides. */
const isAbandoned = (owner: string, age: number): boolean => {
  if (age > longest) return true
  const [machine, pid] = owner.split(" ")
  return machine === hostname() && pid !== undefined && !isRunning(Number(pid))
}

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return !hasCode(error, "ESRCH")
  }
}

const textOf = (path: string): string | undefined => orMissing(() => readFileSync(path, "utf8"))

/** Milliseconds since a file was written, by the clock of its file system, which a new file has the time of. */
const ageOf = (path: string): number | undefined => {
  const fresh = `${path}.${randomBytes(8).toString("hex")}`
  writeFileSync(fresh, "", { flag: "wx", mode: 0o600 })
  try {
    return orMissing(() => statSync(fresh).mtimeMs - statSync(path).mtimeMs)
  } finally {
    rmSync(fresh, { force: true })
  }
}

const orMissing = <A>(read: () => A): A | undefined => {
  try {
    return read()
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined
    throw error
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code
