/**
 * The cluster of a process, by its command line: each process of a cluster has the cluster's name in it (`cluster_name`),
 * which, unlike the working directory, is readable without privileges over the process.
 *
 * Pitfall: reading the command line with each look. The kernel takes the lock of the process's memory for it. A process that
 * yields the CPU holds that lock, for example while it forks, until others leave it a core, and this process, with the
 * whole platform, stood still for half a second. `stat` takes no such lock, so a command line is read once for each
 * program of a process, and never for a child of a known postmaster.
 */
import { readFileSync } from "node:fs"

interface Known {
  /** A pid is used again, so the begin of the process says whether it is the same one. */
  readonly began: string
  /** The name of its program. A process that belongs to no cluster yet may become another program. */
  readonly name: string
  readonly cluster: string | undefined
}

/** Processes by pid. */
const known = new Map<number, Known>()

/** The text of a file; empty if there is none. */
type Read = (path: string) => string

const readText: Read = (path) => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

/** The name of the cluster; `undefined` if the process belongs to none, or has ended. A zombie has ended. */
export const clusterOfProcess = (pid: number, proc = "/proc", read = readText): string | undefined => {
  const alive = processOf(pid, proc, read)
  const former = known.get(pid)
  if (alive !== undefined && former !== undefined && isSame(former, alive)) return former.cluster
  known.delete(pid)
  if (alive === undefined) return undefined
  const { began, name, parent } = alive
  const cluster = childOfKnown(parent, proc, read)
  if (cluster !== undefined) {
    known.set(pid, { began, name, cluster })
    return cluster
  }
  // A process has none while it becomes another program.
  const command = read(`${proc}/${pid}/cmdline`)
  if (command === "") return undefined
  known.set(pid, { began, name, cluster: inCommand(command) })
  return inCommand(command)
}

/**
 * Remembers that a process which was just started is the postmaster of a cluster, so that its command line is not read: by the
 * time of the first look its group may yield.
 */
export const rememberPostmaster = (pid: number, cluster: string, proc = "/proc", read = readText): void => {
  const alive = processOf(pid, proc, read)
  if (alive !== undefined) known.set(pid, { began: alive.began, name: alive.name, cluster })
}

/** Whether what is known of a process still holds. A process of a cluster belongs to it until its end. */
const isSame = (former: Known, { began, name }: Omit<Known, "cluster">) =>
  former.began === began && (former.cluster !== undefined || former.name === name)

/** Forgets processes that are not among those that run. */
export const forgetOthers = (running: ReadonlySet<number>): void => {
  for (const pid of known.keys()) if (!running.has(pid)) known.delete(pid)
}

/** A postmaster's children belong to its cluster. A child of one that has ended has another parent. */
const childOfKnown = (parent: number, proc: string, read: Read): string | undefined => {
  const former = known.get(parent)
  if (former?.cluster === undefined) return undefined
  return processOf(parent, proc, read)?.began === former.began ? former.cluster : undefined
}

/**
 * The members of `proc_pid_stat(5)` that are used: name, parent (field 4) and begin (22). A process without memory (23)
 * has ended: it is about to become a zombie.
 */
const processOf = (pid: number, proc: string, read: Read) => {
  const stat = read(`${proc}/${pid}/stat`)
  const end = stat.lastIndexOf(")")
  const fields = stat.slice(end + 2).split(" ")
  const [parent = "0", began = "", memory = "0"] = [fields[1], fields[19], fields[20]]
  return memory === "0" ? undefined : { name: stat.slice(stat.indexOf("(") + 1, end), parent: Number(parent), began }
}

/** Pitfall: looking for the name anywhere. The title of a session contains the user that its client asked for. */
const inCommand = (command: string): string | undefined => {
  const given = command.split("\0").find((part) => part.startsWith("cluster_name="))
  return /^postgres: (\S+): /.exec(command)?.[1] ?? given?.slice("cluster_name=".length)
}
