/**
 * Runs a program to its end and returns its standard output. A failure is an error with its standard error. An
 * interruption kills it.
 */
import { Effect } from "effect"
import { inSlice, nicely } from "./computeSlices.ts"
import { LocalPostgresError } from "./LocalPostgresError.ts"
import type { Identity } from "./PostgresUser.ts"
import { environment, runToEnd } from "./programStarter.ts"

export interface ProgramOptions {
  /** The user that runs it. Default: the user of this process. */
  readonly identity?: Identity | undefined
  /** A directory that the program can enter as `/proc/self/fd/3`. */
  readonly directory?: string
  /** The working directory. Default: the root. */
  readonly from?: string
  /** Whether the program works for a tenant, and yields the CPU to this process. */
  readonly background?: boolean
}

/** As `runProgram`, but a program that ends with another code than 0 is no error: how it ended, and what it printed. */
export const runToAnyEnd = Effect.fnUntraced(function* (
  command: string,
  args: ReadonlyArray<string>,
  { background = false, directory, from = "/", identity }: ProgramOptions = {}
) {
  const [program, given] = background ? nicely(command, args) : ([command, args] as const)
  const run = (groups: ReadonlyArray<string>) =>
    runToEnd({ command: program, args: given, from, environment, directory, identity, groups })
  const ended = yield* background ? inSlice(run) : run([])
  if ("failed" in ended) return yield* new LocalPostgresError({ operation: command, reason: ended.failed })
  return ended
})

export const runProgram = Effect.fnUntraced(function* (
  command: string,
  args: ReadonlyArray<string>,
  options: ProgramOptions = {}
) {
  const { code, err, out, signal } = yield* runToAnyEnd(command, args, options)
  if (code === 0) return out
  const reason = `it ended with ${signal ?? `code ${code}`}. ${err.trim()}`
  return yield* new LocalPostgresError({ operation: command, reason, printed: err })
})
