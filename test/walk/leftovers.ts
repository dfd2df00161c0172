/**
 * What a walk started and what still runs of it. A process belongs to a walk when its environment carries the walk's mark
 * or when it works in one of the walk's folders.
 *
 * Pitfall: looking for a folder in command lines. The platform's Postgres servers have an empty environment and name no
 * path; their working directory is their cluster.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs"
import { join } from "node:path"
import { until, within } from "../harness/eventually.ts"

/** Carries the walk's mark to every process that inherits the environment. */
export const markVariable = "WALK_MARK"

export interface Walk {
  readonly mark: string
  /** Folders that it made, as real paths. Its processes work there, and they are removed with it. */
  readonly folders: ReadonlyArray<string>
}

/** What the kernel says of a process; nothing for one that has ended, or that is another account's. */
const said = (read: () => string): string => {
  try {
    return read()
  } catch {
    return ""
  }
}

const belongs = ({ folders, mark }: Walk, pid: string): boolean => {
  const environment = said(() => readFileSync(join("/proc", pid, "environ"), "utf8"))
  if (environment.split("\0").includes(`${markVariable}=${mark}`)) return true
  const cwd = said(() => readlinkSync(join("/proc", pid, "cwd")))
  return folders.some((folder) => cwd === folder || cwd.startsWith(`${folder}/`))
}

/** A zombie has ended; only its parent has not taken notice yet. */
const lives = (pid: string): boolean => !/^State:\s+[ZX]/m.test(said(() => readFileSync(`/proc/${pid}/status`, "utf8")))

/** `pid command line` of each process of the walk but this one. */
export const leftovers = (walk: Walk): ReadonlyArray<string> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => belongs(walk, pid) && lives(pid))
    .map((pid) => `${pid} ${said(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ")}`)

const end = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error
  }
}

/**
 * Ends all of them, also those that they start until they are dead. Postgres gets SIGQUIT first, with which it gives its
 * shared memory back; what the signal has not ended after ten seconds is killed like the rest.
 */
const sweep = async (walk: Walk): Promise<void> => {
  const patience = performance.now() + 10_000
  const asked = new Set<number>()
  const look = () => {
    const left = leftovers(walk)
    for (const line of left) {
      const pid = Number(line.split(" ")[0])
      if (!/postgres/.test(line) || performance.now() > patience) end(pid, "SIGKILL")
      else if (!asked.has(pid)) end(pid, "SIGQUIT")
      asked.add(pid)
    }
    return left.length === 0
  }
  await until("the processes of the walk to be killed", look, { every: 20 })
}

/** Nothing of the walk runs or is on the disk afterwards. */
export const clearUp = async (walk: Walk): Promise<void> => {
  await sweep(walk)
  for (const folder of walk.folders) rmSync(folder, { recursive: true, force: true })
}

/**
 * Clears up also when this process is killed: the guard is a process that waits for the end of its standard input, which
 * the kernel closes with this process. It carries no mark itself.
 */
export class Guard {
  readonly #process: ChildProcess

  constructor(walk: Walk) {
    this.#process = spawn(process.execPath, [join(import.meta.dirname, "guard.ts"), JSON.stringify(walk)], {
      cwd: "/",
      detached: true,
      stdio: ["pipe", "ignore", "ignore"]
    })
  }

  /** Clears up now, and ends. */
  async end(): Promise<void> {
    if (this.#process.exitCode !== null) return
    const ended = once(this.#process, "exit")
    this.#process.stdin?.end()
    await within("the guard to end", ended)
  }
}
