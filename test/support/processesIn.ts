/**
 * The processes whose working directory is in a directory, as the kernel reports it.
 *
 * Pitfall: searching command lines for the directory. Postgres gets its data directory as a descriptor and names only
 * its cluster, so no server would ever be found.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { until } from "../harness/eventually.ts"

export interface Process {
  readonly pid: number
  readonly parent: number
  readonly command: string
}

export const processesIn = (directory: string): ReadonlyArray<Process> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const at = readlinkSync(`/proc/${pid}/cwd`)
        if (at !== directory && !at.startsWith(`${directory}/`)) return []
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim()
        const [, parent] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? []
        return [{ pid: Number(pid), parent: Number(parent), command }]
      } catch {
        return [] // It ended in between, or belongs to another account, as no process of the platform does.
      }
    })

/** Ends the processes. SIGQUIT comes first: on it a postmaster stops its backends and releases its shared memory. */
export const endProcessesIn = async (directory: string): Promise<void> => {
  const signal = (name: NodeJS.Signals) => {
    for (const { pid } of processesIn(directory))
      try {
        process.kill(pid, name)
      } catch {
        // The process ended in between.
      }
  }
  const gone = () => processesIn(directory).length === 0
  signal("SIGQUIT")
  await until("the servers of a killed platform to end", gone, { limit: 10_000 }).catch(() => signal("SIGKILL"))
  await until("killed processes to end", gone)
}
