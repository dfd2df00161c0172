/**
 * The cache of tests between runs, for what is expensive to create and depends on this machine and account alone. It is
 * in `node_modules/.cache`, or in the system's temporary directory when this account cannot write there.
 */
import { chmod, lstat, mkdir } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

const repository = resolve(import.meta.dirname, "../../..")
const parents = [join(repository, "node_modules/.cache"), tmpdir()]
const uid = process.getuid?.()

/** A directory of this account that others can read and cannot write. */
export const cacheDirectory = async (name: string): Promise<string> => {
  const refusals: Array<string> = []
  for (const parent of parents) {
    const directory = join(parent, `narthex-${name}-${uid}`)
    try {
      if ((await mkdir(directory, { recursive: true })) !== undefined) await chmod(directory, 0o755)
      const status = await lstat(directory)
      if (status.isDirectory() && status.uid === uid && (status.mode & 0o022) === 0) return directory
      refusals.push(`${directory} does not belong to uid ${uid} alone`)
    } catch (cause) {
      refusals.push(cause instanceof Error ? cause.message : String(cause))
    }
  }
  throw new Error(`No directory is usable as the cache of tests: ${refusals.join("; ")}.`)
}
