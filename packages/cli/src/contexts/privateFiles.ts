/**
 * Files that only their owner can read. A crash during a write leaves the old content or the new content, never a part.
 *
 * 1. Create the folder with mode 0700. 2. Create a temporary file with `O_EXCL` and mode 0600. 3. Write and sync it.
 * 4. Rename it to its final name. 5. Sync the folder.
 *
 * Pitfall: setting the mode after the rename. Until then, other users can open the file, so step 2 sets the mode.
 * The file, or its folder, may be a symbolic link of the user, as files of a dotfiles repository are. The target is
 * written, and the link stays. The temporary file lies beside the target, so that the rename replaces it.
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
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { basename, dirname, join } from "node:path"

const forOthers = 0o077

const isMissing = (error: unknown) => isSystemError(error) && error.code === "ENOENT"

const isSystemError = (error: unknown): error is NodeJS.ErrnoException => error instanceof Error && "code" in error

/** The file that the path leads to; of a link without a target, the link itself. */
const targetOf = (path: string): string => {
  try {
    return realpathSync(path)
  } catch (error) {
    if (isMissing(error)) return path
    throw error
  }
}

/** Creates the folder or makes it private. */
const preparePrivateFolder = (folder: string) => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if ((statSync(folder).mode & forOthers) !== 0) chmodSync(folder, 0o700)
}

interface PrivateText {
  readonly text: string
  /** Other users can read the file, or could. */
  readonly loose: "until now" | "still" | undefined
}

/**
 * Returns `undefined` if there is no file. A file that other users could read is set to mode 0600; where that fails, as
 * on a read-only file system, it is read all the same.
 */
export const readPrivate = (path: string): PrivateText | undefined => {
  let file: number
  try {
    file = openSync(path, constants.O_RDONLY)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
  try {
    const isLoose = process.platform !== "win32" && (fstatSync(file).mode & forOthers) !== 0
    return { text: readFileSync(file, "utf8"), loose: isLoose ? (tighten(file) ? "until now" : "still") : undefined }
  } finally {
    closeSync(file)
  }
}

/** Returns whether it succeeded. */
const tighten = (file: number): boolean => {
  try {
    fchmodSync(file, 0o600)
    return true
  } catch {
    return false
  }
}

export const writePrivate = (link: string, text: string): void => {
  preparePrivateFolder(dirname(link))
  const path = targetOf(link)
  const folder = dirname(path)
  removeLeftovers(path)
  const temporary = `${path}.${randomBytes(8).toString("hex")}.tmp`
  const file = openSync(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
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

/** Returns whether there was a file. The target of a symbolic link is removed too, because it has the secrets. */
export const removePrivate = (path: string): boolean => {
  const target = targetOf(path)
  removeLeftovers(target)
  try {
    lstatSync(path)
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
  rmSync(target)
  rmSync(path, { force: true })
  for (const folder of new Set([target, path].map(dirname))) syncFolder(folder)
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
