/** psql and other programs that tests run, always to their end and always with a time limit. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { buffer, text } from "node:stream/consumers"
import { within } from "../../../../test/harness/eventually.ts"
import { password, role } from "./credentials.ts"
import { endpoint_id } from "./MemoryControlPlane.ts"

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly ended: Promise<Ran>
  readonly signal: (name: NodeJS.Signals) => void
}

/** Starts a program. If the program does not end in time, it is killed, and `ended` rejects. */
export const begin = (program: string, args: ReadonlyArray<string>, env: Record<string, string> = {}): Running => {
  const child = spawn(program, args, {
    // Not the environment of the user: LANG, PGOPTIONS and PGSSLMODE would change what psql sends and prints.
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], LC_ALL: "C", PGPASSWORD: password, ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  const end = Promise.all([once(child, "close"), buffer(child.stdout), text(child.stderr)])
  const bounded = within(`${program} ${args.at(-1)} to end`, end).finally(() => child.kill("SIGKILL"))
  const ended = bounded.then(([[code], stdout, stderr]) => ({ code, stdout: stdout.toString(), stderr }))
  ended.catch(() => undefined) // Awaited later, or the test has failed for another reason already.
  return { ended, signal: (name) => child.kill(name) }
}

export const run = (program: string, args: ReadonlyArray<string>, env?: Record<string, string>): Promise<Ran> =>
  begin(program, args, env).ended

/** The connection string of the endpoint for libpq. */
export const conninfo = (port: number, more = "") =>
  `host=127.0.0.1 port=${port} user=${role} dbname=postgres options='endpoint=${endpoint_id}' connect_timeout=40 ${more}`

/** `VERBOSITY=verbose` so that SQLSTATE and hint can be read. */
export const beginPsql = (port: number, sql: string, more = "") =>
  begin("psql", ["-X", "-At", "-v", "VERBOSITY=verbose", "-d", conninfo(port, more), "-c", sql])

export const psql = (port: number, sql: string, more = "") => beginPsql(port, sql, more).ended
