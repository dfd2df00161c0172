/**
 * Runs a program to its end and returns its standard output. A failure is an error with its standard error. An
 * interruption kills it.
 *
 * The environment has only a path and a locale: a child never inherits secrets, and its output does not depend on the
 * environment of this process.
 */
import { spawn } from "node:child_process"
import { Effect } from "effect"
import { LocalPostgresError } from "./LocalPostgresError.ts"
import type { Identity } from "./PostgresUser.ts"
import { preparingNiceness, yieldingCpu } from "./yieldingCpu.ts"

export const environment = { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C" }

export interface ProgramOptions {
  /** The user that runs it. Default: the user of this process. */
  readonly identity?: Identity | undefined
  /** An open directory, which the program can enter as `/proc/self/fd/3`. */
  readonly directory?: number | undefined
  /** Its working directory; left out: the root. */
  readonly from?: string
  /** It works for a tenant, and yields the CPU to this process. */
  readonly background?: boolean
}

export const runProgram = (command: string, args: ReadonlyArray<string>, options: ProgramOptions = {}) =>
  Effect.callback<string, LocalPostgresError>((resume) => {
    const output = { out: "", err: "" }
    const fail = (reason: string) =>
      resume(Effect.fail(new LocalPostgresError({ operation: command, reason, printed: output.err })))
    let closed = false
    const [program, given] =
      options.background === true ? yieldingCpu(command, args, preparingNiceness) : ([command, args] as const)
    const child = spawn(program, given, {
      cwd: options.from ?? "/",
      env: environment,
      stdio: ["ignore", "pipe", "pipe", options.directory ?? "ignore"],
      ...options.identity
    })
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output.out += text
    })
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      output.err += text
    })
    child.once("error", (cause) => fail(cause.message))
    child.once("close", (code, signal) => {
      closed = true
      if (code === 0) resume(Effect.succeed(output.out))
      else fail(`it ended with ${signal ?? `code ${code}`}. ${output.err.trim()}`)
    })
    // What takes over must not meet it: the end is awaited, for a bounded time.
    return Effect.gen(function* () {
      child.kill("SIGKILL")
      for (let waited = 0; !closed && waited < 5_000; waited += 2) yield* Effect.sleep(2)
    })
  })
