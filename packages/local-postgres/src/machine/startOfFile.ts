/**
 * Small files of a cluster, each read in one turn of the event loop: a start waits for all of them, and every turn takes the
 * longer the busier this process is.
 */
import { closeSync, constants, openSync, readSync } from "node:fs"

/**
 * The first bytes of a file in a directory that the server's user may write. A file of any kind there cannot make this
 * process wait, and no link leads elsewhere.
 */
export const startOfFile = (path: string, bytes: number): Buffer => {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  try {
    const buffer = Buffer.alloc(bytes)
    return buffer.subarray(0, readSync(file, buffer))
  } finally {
    closeSync(file)
  }
}
