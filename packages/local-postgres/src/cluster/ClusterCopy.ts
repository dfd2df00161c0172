/**
 * Copies the files of a cluster: all of a stopped one, or those that a backup names (`ClusterBackup`).
 *
 * The owner is the only attribute of a file that is copied. Postgres needs no other, new files have the mode of their
 * source, and each attribute is a change that waits for the journal of the file system.
 */
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { attempt, type LocalPostgresError } from "../machine/LocalPostgresError.ts"
import { runProgram } from "../machine/runProgram.ts"

/** Links are copied as links. */
const attributes = ["-d", "--preserve=ownership", "--reflink=auto"]

/** Copies a data directory that no server uses. It yields the CPU to this process, as every copy of a branch does. */
export const copyStopped = Effect.fn("copyStopped")(function* (data: string, copy: string) {
  yield* runProgram("cp", [...attributes, "-R", data, copy], { background: true })
  yield* attempt(`Clearing ${copy}`, async () => {
    for (const name of ["postmaster.pid", "postmaster.opts"]) await rm(join(copy, name), { force: true })
  })
})

/** How often a program runs that met a file which Postgres was replacing. */
const tries = 3

/**
 * The message of `cp` about a source file that is gone.
 *
 * Pitfall: accepting every missing path. A directory that is not there to copy to would lose its files silently.
 */
const vanished = /^cp: cannot (stat|open) '.*'( for reading)?: No such file or directory$/

/**
 * Copies files, named by their paths within `from`, to the same paths within `to`. Files that Postgres has removed since
 * they were listed are left out.
 *
 * Pitfall: a call of this process for each file. A cluster has a thousand, each call waits for a turn of the event loop,
 * and beside a tenant who keeps it busy a copy of a second took 44. Starting a program has its cost too, which grows with
 * the memory of this process.
 */
export const copyInto = (
  from: string,
  to: string,
  paths: ReadonlyArray<string>,
  left = tries
): Effect.Effect<void, LocalPostgresError> =>
  runProgram("cp", [...attributes, "--parents", "-t", to, "--", ...paths], { from, background: true }).pipe(
    Effect.asVoid,
    Effect.catch((error) => {
      const lines = (error.printed ?? "").trim().split("\n")
      if (lines.every((line) => vanished.test(line))) return Effect.void
      return left > 1 ? copyInto(from, to, paths, left - 1) : Effect.fail(error)
    })
  )
