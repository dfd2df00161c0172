/**
 * The parent of the data directories of tests: `/dev/shm` when it has enough space, else the system's temporary
 * directory. The platform syncs its writes, and a sync on a disk waits for the writes of all other processes.
 *
 * Pitfall: running a program from there. Containers mount `/dev/shm` with `noexec`.
 */
import { accessSync, constants, statfsSync } from "node:fs"
import { tmpdir } from "node:os"

const memory = "/dev/shm"

/** Bytes: about twenty clusters. */
const plenty = 2 * 1024 ** 3

export const scratchParent = (): string => {
  if (process.env["TMPDIR"] !== undefined) return tmpdir()
  try {
    accessSync(memory, constants.W_OK)
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize >= plenty ? memory : tmpdir()
  } catch {
    return tmpdir()
  }
}
