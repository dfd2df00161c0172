/**
 * Files that only their owner can read. A crash during a write leaves the old content or the new content, never a part.
 *
 * 1. Create the folder with mode 0700. 2. Create a temporary file with `O_EXCL` and mode 0600. 3. Write and sync it.
 * 4. Rename it to its final name. 5. Sync the folder.
 *
 * Pitfall: setting the mode after the rename. Until then, other users can open the file, so step 2 sets the mode.
 * Pitfall: opening by name without `O_NOFOLLOW`. That follows a symbolic link.
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

/** Windows has neither `O_NOFOLLOW` nor modes. */
const noFollow = constants.O_NOFOLLOW ?? 0
const forOthers = 0o077

export class SymbolicLink extends Error {
  override readonly name = "SymbolicLink"
}

const isMissing = (error: unknown) => isSystemError(error) && error.code === "ENOENT"

const isSystemError = (error: unknown): error is NodeJS.ErrnoException => error instanceof Error && "code" in error

/** Creates the folder or makes it private. A symbolic link is refused, because another user could own its target. */
const preparePrivateFolder = (folder: string) => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  if (found.isSymbolicLink()) throw new SymbolicLink(folder)
  if ((found.mode & forOthers) !== 0) chmodSync(folder, 0o700)
}

interface PrivateText {
  readonly text: string
  /** Other users could read the file until now. */
  readonly wasLoose: boolean
}

/** Returns `undefined` if there is no file. A file that other users could read is set to mode 0600. */
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

/** Returns whether there was a file. Of a symbolic link, the link is removed and its target stays. */
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

/** Removes temporary files of a crash between steps 2 and 4, because they contain secrets. */
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

/** Windows cannot open folders, and does not need the sync. */
const syncFolder = (folder: string) => {
  if (process.platform === "win32") return
  const file = openSync(folder, constants.O_RDONLY)
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
