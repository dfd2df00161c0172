/**
 * Files that only their owner may read, written so that a crash leaves the old content or the new, never half of it.
 *
 * 1. The folder is made 0700. 2. A temporary file is made with `O_EXCL` and 0600, never an existing one. 3. It is written
 * and synced. 4. A rename puts it in place. 5. The folder is synced.
 *
 * Pitfall: setting the mode after the rename. `rename` keeps the temporary file's mode, so that file needs the right
 * mode when it is created.
 * Pitfall: opening by name. That follows a symbolic link unless told not to.
 */
import { randomBytes } from "node:crypto"
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { basename, dirname, join } from "node:path"

/** Windows has neither the flag nor modes. */
const noFollow = constants.O_NOFOLLOW ?? 0
const forOthers = 0o077

export class SymbolicLink extends Error {
  override readonly name = "SymbolicLink"
}

const isMissing = (error: unknown) => isSystemError(error) && error.code === "ENOENT"

const isSystemError = (error: unknown): error is NodeJS.ErrnoException => error instanceof Error && "code" in error

/** The folder, private. A link in its place is refused: somebody else could point it anywhere. */
const preparePrivateFolder = (folder: string) => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  if (found.isSymbolicLink()) throw new SymbolicLink(folder)
  if ((found.mode & forOthers) !== 0) chmodSync(folder, 0o700)
}

export interface PrivateText {
  readonly text: string
  /** Others could read it until now. */
  readonly wasLoose: boolean
}

/** `undefined`: there is no such file. A file that others could read is theirs no longer. */
export const readPrivate = (path: string): PrivateText | undefined => {
  let file: number
  try {
    if (lstatSync(dirname(path)).isSymbolicLink()) throw new SymbolicLink(dirname(path))
    file = openSync(path, constants.O_RDONLY | noFollow)
  } catch (error) {
    if (isMissing(error)) return undefined
    if (isSystemError(error) && error.code === "ELOOP") throw new SymbolicLink(path)
    throw error
  }
  try {
    const wasLoose = process.platform !== "win32" && (fstatSync(file).mode & forOthers) !== 0
    if (wasLoose) fchmodSync(file, 0o600)
    return { text: readFileSync(file, "utf8"), wasLoose }
  } finally {
    closeSync(file)
  }
}

export const writePrivate = (path: string, text: string): void => {
  const folder = dirname(path)
  preparePrivateFolder(folder)
  removeLeftovers(path)
  const temporary = `${path}.${randomBytes(8).toString("hex")}.tmp`
  const file = openSync(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow, 0o600)
  try {
    try {
      writeFileSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  syncFolder(folder)
}

/** Was there a file? A symbolic link is removed itself, not what it points at. */
export const removePrivate = (path: string): boolean => {
  removeLeftovers(path)
  try {
    lstatSync(path)
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
  rmSync(path)
  syncFolder(dirname(path))
  return true
}

/** Temporary files that a crash between steps 2 and 4 left behind hold secrets. */
const removeLeftovers = (path: string) => {
  const folder = dirname(path)
  const temporary = new RegExp(`^${basename(path).replaceAll(".", "\\.")}\\.[0-9a-f]{16}\\.tmp$`)
  let found: ReadonlyArray<string>
  try {
    found = readdirSync(folder).filter((name) => temporary.test(name))
  } catch (error) {
    if (isMissing(error)) return
    throw error
  }
  for (const name of found) rmSync(join(folder, name), { force: true })
}

/** Windows cannot open folders, and needs no such thing. */
const syncFolder = (folder: string) => {
  if (process.platform === "win32") return
  const file = openSync(folder, constants.O_RDONLY)
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
