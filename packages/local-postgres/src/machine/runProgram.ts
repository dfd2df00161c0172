/**
 * Runs a program to its end and answers its standard output. One that fails is an error with what it said.
 *
 * The environment is empty but for a path and a locale: a child never inherits our secrets, and what it prints
 * does not depend on who started us.
 */
import { spawn } from "node:child_process"
import { Effect } from "effect"
import { LocalPostgresError } from "./LocalPostgresError.ts"
import type { Identity } from "./PostgresUser.ts"

export const environment = { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C" }

export interface ProgramOptions {
  /** Whom it runs as; left out, ourselves. */
  readonly identity?: Identity | undefined
  /** An open directory that the program finds as `/proc/self/fd/3`. */
  readonly directory?: number | undefined
}

export const runProgram = (command: string, args: ReadonlyArray<string>, options: ProgramOptions = {}) =>
  Effect.callback<string, LocalPostgresError>((resume) => {
    const fail = (reason: string) => resume(Effect.fail(new LocalPostgresError({ operation: command, reason })))
    const output = { out: "", err: "" }
    const child = spawn(command, args, {
      cwd: "/",
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
      if (code === 0) resume(Effect.succeed(output.out))
      else fail(`it ended with ${signal ?? `code ${code}`}. ${output.err.trim()}`)
    })
    return Effect.sync(() => {
      child.kill("SIGKILL")
    })
  })
