/** The code of the process that starts programs (`programStarter`): receives programs, and reports their ends. */
import type { ChildProcess } from "node:child_process"
import type { Identity } from "./PostgresUser.ts"

export interface Program {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly from: string
  readonly environment: Readonly<Record<string, string>>
  readonly identity?: Identity | undefined
  /** Opened for the program, which can enter it as `/proc/self/fd/3`. */
  readonly directory?: string | undefined
  /** The directories of control groups that it enters, if it can: one of each hierarchy, two at most (`computeSlices`). */
  readonly groups?: ReadonlyArray<string>
  /** The file for the output of a server, which has a session of its own and goes on when this process ends. */
  readonly log?: string
}

export interface Start extends Program {
  readonly id: number
}

/** How a program ended. `failed`: it could not be started, or the process that ran it has ended. */
export type Ended =
  | { readonly code: number | null; readonly signal: string | null; readonly out: string; readonly err: string }
  | { readonly failed: string }

export interface Heard {
  readonly id: number
  readonly pid?: number
  readonly ended?: Ended
}

/** The code of the small process. It is passed as text, so it refers to nothing outside of itself. */
export const serve = (parent: number) => {
  const { spawn } = process.getBuiltinModule("node:child_process")
  const { closeSync, constants, existsSync, openSync } = process.getBuiltinModule("node:fs")
  const running = new Map<number, ChildProcess>()
  // Without the last argument, the end of the other process is an error that ends this one before it has killed anything.
  const say = (heard: Heard) => process.send?.(heard, undefined, undefined, () => undefined)
  const end = () => {
    for (const child of running.values()) child.kill("SIGKILL")
    process.exit()
  }

  /**
   * The file by which a process enters a group by itself, before it runs a program; `undefined` if the group is gone.
   *
   * Pitfall: `cgroup.procs` in version 1 of control groups, which has `tasks` too. The kernel stops every start on the
   * machine until each core has been seen (a grace period of RCU): 10 ms, and hundreds on a busy one.
   */
  const entranceOf = (group: string) => {
    const file = [`${group}/tasks`, `${group}/cgroup.procs`].find(existsSync)
    try {
      return file === undefined ? undefined : openSync(file, constants.O_WRONLY)
    } catch {
      return undefined
    }
  }
  const entering = 'echo 0 2>/dev/null >&4; echo 0 2>/dev/null >&5; exec "$@" 4>&- 5>&-'

  const start = ({ args, command, directory, environment, from, groups = [], id, identity, log }: Start) => {
    const opened: Array<number> = []
    const open = (path: string, flags: string | number, mode?: number) => {
      const file = openSync(path, flags, mode)
      opened.push(file)
      return file
    }
    try {
      const entered = directory === undefined ? "ignore" : open(directory, constants.O_RDONLY | constants.O_DIRECTORY)
      const output = log === undefined ? "pipe" : open(log, "a", 0o600)
      const entrances = groups.map(entranceOf).filter((file) => file !== undefined)
      opened.push(...entrances)
      const [first, second = first] = entrances
      const [program, given] =
        first === undefined ? ([command, args] as const) : (["sh", ["-c", entering, "sh", command, ...args]] as const)
      const child = spawn(program, given, {
        cwd: from,
        env: environment,
        detached: log !== undefined,
        stdio: ["ignore", output, output, entered, first ?? "ignore", second ?? "ignore"],
        ...identity
      })
      const text = { out: "", err: "" }
      child.stdout?.setEncoding("utf8").on("data", (part: string) => {
        text.out += part
      })
      child.stderr?.setEncoding("utf8").on("data", (part: string) => {
        text.err += part
      })
      child.once("spawn", () => {
        if (log === undefined) running.set(id, child)
        say({ id, pid: child.pid ?? 0 })
      })
      child.once("error", ({ message }) => say({ id, ended: { failed: message } }))
      child.once("close", (code, signal) => {
        running.delete(id)
        say({ id, ended: { code, signal, ...text } })
      })
    } catch (cause) {
      say({ id, ended: { failed: String(cause) } })
    } finally {
      for (const file of opened) closeSync(file)
    }
  }

  process.title = "narthex: starts programs"
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined)
  process.on("disconnect", end)
  process.on("message", (asked: Start | { readonly kill: number }) => {
    if (process.ppid !== parent) end()
    if ("kill" in asked) running.get(asked.kill)?.kill("SIGKILL")
    else start(asked)
  })
}
