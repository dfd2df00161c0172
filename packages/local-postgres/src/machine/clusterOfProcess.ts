/**
 * The cluster of a process, by its command line: each process of a cluster has the cluster's name in it (`cluster_name`),
 * which, unlike the working directory, is readable without privileges over the process.
 *
 * Pitfall: reading the command line with each look. The kernel takes the lock of the process's memory for it. A process that
 * yields the CPU holds that lock, for example while it forks, until others leave it a core, and this process, with the
 * whole platform, stood still for up to five seconds. `stat` takes no such lock, so a command line is read once, and that
 * of a process whose parent is known is not read.
 */
import { readFileSync } from "node:fs"

/** By pid. A pid is used again, so the begin of the process says whether it is the same one. */
const known = new Map<number, { readonly began: string; readonly cluster: string }>()

/** The names of the programs: `nice` becomes the postmaster. Command lines of others are not read. */
const mayBelong = /postgres|nice/

/**
 * The name of the cluster; `undefined` if it belongs to none, or has ended. A zombie has ended.
 *
 * Pitfall: taking a process for alive that has no memory any more. It is about to become a zombie.
 */
export const clusterOfProcess = (pid: number, proc = "/proc"): string | undefined => {
  const alive = processOf(pid, proc)
  const former = known.get(pid)
  if (alive !== undefined && alive.began === former?.began) return former.cluster
  known.delete(pid)
  if (alive === undefined || !mayBelong.test(alive.name)) return undefined
  const cluster = childOfKnown(alive.parent, proc) ?? inCommand(pid, proc)
  if (cluster !== undefined) known.set(pid, { began: alive.began, cluster })
  return cluster
}

/** Forgets processes that are not among those that run. */
export const forgetOthers = (running: ReadonlySet<number>): void => {
  for (const pid of known.keys()) if (!running.has(pid)) known.delete(pid)
}

/** A postmaster's children belong to its cluster. A child of one that has ended has another parent. */
const childOfKnown = (parent: number, proc: string): string | undefined => {
  const former = known.get(parent)
  return former !== undefined && processOf(parent, proc)?.began === former.began ? former.cluster : undefined
}

/** What `proc_pid_stat(5)` has of a process with memory: its name, parent (field 4) and begin (22). */
const processOf = (pid: number, proc: string) => {
  try {
    const stat = readFileSync(`${proc}/${pid}/stat`, "utf8")
    const end = stat.lastIndexOf(")")
    const fields = stat.slice(end + 2).split(" ")
    const [parent = "0", began = "", memory = "0"] = [fields[1], fields[19], fields[20]]
    return memory === "0" ? undefined : { name: stat.slice(stat.indexOf("(") + 1, end), parent: Number(parent), began }
  } catch {
    return undefined
  }
}

/** Pitfall: looking for the name anywhere. The title of a session contains the user that its client asked for. */
const inCommand = (pid: number, proc: string): string | undefined => {
  try {
    const command = readFileSync(`${proc}/${pid}/cmdline`, "utf8")
    const given = command.split("\0").find((part) => part.startsWith("cluster_name="))
    return /^postgres: (\S+): /.exec(command)?.[1] ?? given?.slice("cluster_name=".length)
  } catch {
    return undefined
  }
}
