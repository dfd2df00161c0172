/** A file system in memory with a bound, for tests whose files would fill a disk's queue or all of the memory. */
import { spawnSync } from "node:child_process"
import { freemem } from "node:os"

/** The share of the free memory that such a file system may take, and the least that makes it useful, in bytes. */
const [share, least] = [0.5, 4 * 1024 ** 3]

/** Mounts one at an empty directory. `false`: this process may not, or there is too little memory. */
export const mountInMemory = (directory: string): boolean => {
  const size = Math.floor(Math.min(freemem(), process.availableMemory()) * share)
  if (size < least) return false
  const options = `size=${size},mode=0700`
  return spawnSync("mount", ["-t", "tmpfs", "-o", options, "narthex-test", directory]).status === 0
}

/** The kernel lets go of it when its last process has ended. */
export const unmount = (directory: string): void => {
  spawnSync("umount", ["--lazy", directory])
}
