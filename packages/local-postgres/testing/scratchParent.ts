/**
 * Where tests put the data directories of real servers: into memory where there is plenty, else into the system's
 * temporary directory. The platform syncs what it writes, and a sync waits for whatever else the machine writes.
 *
 * Pitfall: running a program from there. Containers mount it `noexec`.
 */
import { accessSync, constants, statfsSync } from "node:fs"
import { tmpdir } from "node:os"

const memory = "/dev/shm"

/** Bytes: some twenty clusters. */
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
