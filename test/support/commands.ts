/** Commands against a running platform: the bundled command line, and the operator's. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { within } from "../harness/eventually.ts"
import { baseEnvironment, programs } from "./surroundings.ts"

export interface CommandResult {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  /** Resolves with the first match in what it writes to stderr; rejects when it ends without one. */
  readonly says: (pattern: RegExp) => Promise<string>
  /** Resolves when it has ended; one that does not end in time is killed, and that is a failure. */
  readonly result: Promise<CommandResult>
}

const begin = (program: string, args: ReadonlyArray<string>, environment: Record<string, string>): Running => {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...baseEnvironment(), ...environment },
    stdio: ["ignore", "pipe", "pipe"]
  })
  const end = Promise.all([once(child, "close"), text(child.stdout), text(child.stderr)])
  const bounded = within(`"${args.join(" ")}" to end`, end).finally(() => child.kill("SIGKILL"))
  const result = bounded.then(([[status], stdout, stderr]) => ({ status, stdout, stderr }))
  result.catch(() => undefined) // Awaited later, or the test has failed for another reason already.
  const says = (pattern: RegExp) => {
    const found = new Promise<string>((resolve, reject) => {
      let said = ""
      child.stderr.on("data", (chunk) => {
        said += String(chunk)
        const match = pattern.exec(said)?.[0]
        if (match !== undefined) resolve(match)
      })
      child.once("close", () => reject(new Error(`"${args.join(" ")}" ended and had said only: ${said}`)))
    })
    return within(`"${args.join(" ")}" to say ${pattern}`, found)
  }
  return { says, result }
}

/** The bundled command line, with a separate home directory and without a browser. */
export const beginCli = (home: string, api: string, key: string | undefined, args: ReadonlyArray<string>): Running => {
  mkdirSync(home, { recursive: true })
  return begin(programs.cli, args, {
    HOME: home,
    BROWSER: "/bin/false",
    NARTHEX_URL: api,
    NARTHEX_NO_UPDATE_NOTIFIER: "1",
    ...(key === undefined ? {} : { NARTHEX_API_KEY: key })
  })
}

export const cli = (home: string, api: string, key: string | undefined, args: ReadonlyArray<string>) =>
  beginCli(home, api, key, args).result

/** An operator's command. Resolves with its output. */
export const operator = async (dataDir: string, ...args: ReadonlyArray<string>): Promise<string> => {
  const running = begin(programs.server, args, { NARTHEX_DATA_DIR: join(dataDir, "data") })
  const { status, stderr, stdout } = await running.result
  if (status !== 0) throw new Error(`narthex-server ${args.join(" ")} ended with ${status}: ${stderr}`)
  return stdout
}
