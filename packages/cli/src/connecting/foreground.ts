/**
 * Runs a program in the foreground, in place of narthex: it has the standard streams, gets the signals, and its exit code
 * becomes that of narthex.
 *
 * Pitfall: leaving Effect's handlers of SIGINT in place. Ctrl-C cancels a query in psql, and would end narthex, which
 * would leave psql without a parent on the terminal.
 * Pitfall: forwarding Ctrl-C. On a terminal the kernel sends it to the program, too, which would get it twice.
 */
import { spawn } from "node:child_process"
import { accessSync, constants, statSync } from "node:fs"
import { constants as machine } from "node:os"
import { delimiter, isAbsolute, join } from "node:path"
import { isatty } from "node:tty"
import { Effect } from "effect"
import type { Variables } from "../environment/Environment.ts"
import { Stopped } from "../failures/LocalFailure.ts"

/** The file of a program, from the absolute folders of `PATH`. */
export const findProgram = (name: string, path: string | undefined, platform: string): string | undefined => {
  const folders = (path ?? "").split(delimiter).filter(isAbsolute)
  return folders.map((folder) => join(folder, platform === "win32" ? `${name}.exe` : name)).find(isExecutable)
}

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** Variables of libpq that do not say where or as whom to connect. */
const harmless = new Set([
  "PGAPPNAME",
  "PGCLIENTENCODING",
  "PGCONNECT_TIMEOUT",
  "PGDATESTYLE",
  "PGGEQO",
  "PGLOCALEDIR",
  "PGTZ"
])

/**
 * The environment for a program of Postgres that gets a connection from narthex.
 *
 * Pitfall: passing all of it on. `PGHOSTADDR` sends the new password to another server, and `PGSERVICE` or `PGSSLMODE`
 * complete or contradict the connection.
 */
export const withoutConnection = (variables: Variables): Variables =>
  Object.fromEntries(
    Object.entries(variables).filter(([name]) => !/^PG/i.test(name) || harmless.has(name.toUpperCase()))
  )

const fromTerminal: ReadonlyArray<NodeJS.Signals> = ["SIGINT", "SIGQUIT"]
const fromProcesses: ReadonlyArray<NodeJS.Signals> = ["SIGTERM", "SIGHUP"]

/** Resolves with the exit code; a program that a signal ends has 128 and the number of the signal, as in a shell. */
export const runInForeground = (
  file: string,
  args: ReadonlyArray<string>,
  variables: Variables
): Effect.Effect<number, Stopped> =>
  Effect.callback<number, Stopped>((resume) => {
    const child = spawn(file, [...args], { stdio: "inherit", env: { ...variables } })
    const forward = (signal: NodeJS.Signals) => void child.kill(signal)
    const restored = [
      ...fromTerminal.map((signal) => handling(signal, isatty(0) ? () => undefined : forward)),
      ...fromProcesses.map((signal) => handling(signal, forward))
    ]
    const restore = () => {
      for (const undo of restored) undo()
    }
    child.once("error", (error) => {
      restore()
      resume(Effect.fail(new Stopped({ message: `${file} cannot be started: ${error.message}` })))
    })
    child.once("exit", (code, signal) => {
      restore()
      resume(Effect.succeed(code ?? 128 + (signal === null ? 0 : machine.signals[signal])))
    })
    return Effect.sync(() => {
      restore()
      child.kill()
    })
  })

/** Replaces the handlers of a signal. The result puts them back. */
const handling = (signal: NodeJS.Signals, handler: (signal: NodeJS.Signals) => void): (() => void) => {
  const before = process.rawListeners(signal)
  process.removeAllListeners(signal)
  process.on(signal, handler)
  return () => {
    process.removeListener(signal, handler)
    for (const listener of before) process.on(signal, listener as NodeJS.SignalsListener)
  }
}
