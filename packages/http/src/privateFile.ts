/**
 * Files that hold a secret of the platform: readable by their owner alone, made once, read at every start.
 *
 * Pitfall: writing to the final path. A crash in the middle leaves a partial secret, and two processes that start
 * together each keep another one. A draft that is complete and on disk is linked to the path, which fails if the path
 * exists.
 */
import { randomUUID } from "node:crypto"
import { constants } from "node:fs"
import { link, mkdir, open, unlink } from "node:fs/promises"
import { dirname } from "node:path"

/** The code of a failure of the file system (`ENOENT`, `EACCES`), or the failure as text. */
export const codeOf = (cause: unknown): string => String(cause instanceof Error && "code" in cause ? cause.code : cause)

/** Reads with mode 0600: a file that others may read is tightened, and a symbolic link is refused (`ELOOP`). */
const read = async (path: string): Promise<string> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    if (((await file.stat()).mode & 0o077) !== 0) await file.chmod(0o600)
    return await file.readFile("utf8")
  } finally {
    await file.close()
  }
}

/** The content of the file as UTF-8, or `undefined` if there is none. Rejects with the failure of the file system. */
export const readPrivateFile = (path: string): Promise<string | undefined> =>
  read(path).catch((cause: unknown) => {
    if (codeOf(cause) === "ENOENT") return undefined
    throw cause
  })

/**
 * Writes the file with mode 0600, in a directory made with mode 0700, and returns what the path holds afterwards: if
 * another process was first, that is the other process's content. On disk when it resolves.
 */
export const writePrivateFile = async (path: string, content: string): Promise<string> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomUUID()}`
  const file = await open(draft, "wx", 0o600)
  try {
    await file.writeFile(content)
    await file.sync()
    await link(draft, path).catch((cause: unknown) => {
      if (codeOf(cause) !== "EEXIST") throw cause
    })
  } finally {
    await file.close()
    await unlink(draft)
  }
  const directory = await open(dirname(path), "r")
  await directory.sync().finally(() => directory.close())
  return read(path)
}
