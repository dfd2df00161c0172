/**
 * The processes of a walk. A process belongs to a walk if its environment has the walk's mark or if its working
 * directory is in one of the walk's folders.
 *
 * Pitfall: looking for a folder in command lines. The platform's Postgres servers have an empty environment and name no
 * path; their working directory is their cluster.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs"
import { join } from "node:path"
import { until, within } from "../harness/eventually.ts"

/** The variable that marks every process that inherits the environment of the walk. */
export const markVariable = "WALK_MARK"

export interface Walk {
  readonly mark: string
  /** Folders that the walk made, as real paths. Its processes work there, and they are removed with it. */
  readonly folders: ReadonlyArray<string>
}

/** The kernel's report about a process; empty for one that has ended or belongs to another account. */
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

/** A zombie has ended, but its parent has not collected its status yet. */
const lives = (pid: string): boolean => !/^State:\s+[ZX]/m.test(said(() => readFileSync(`/proc/${pid}/status`, "utf8")))

/** `pid command line` of each process of the walk except this one. */
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
 * Ends all processes of the walk, also those that they start in between. Postgres gets SIGQUIT first, on which it
 * releases its shared memory; if it still runs after ten seconds, it is killed like the others.
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

/** Ends the processes and removes the files of the walk. */
export const clearUp = async (walk: Walk): Promise<void> => {
  await sweep(walk)
  for (const folder of walk.folders) rmSync(folder, { recursive: true, force: true })
}

/**
 * Cleans up even when this process is killed: the guard is a process that waits for the end of its standard input,
 * which the kernel closes with this process. The guard itself has no mark.
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
