/** The TCP sockets of a process, as the kernel has them. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs"

/** States of the kernel: TCP_ESTABLISHED and TCP_LISTEN. */
const [established, listens] = ["01", "0A"]

/** The local ports of the sockets of a process that are in a state, in ascending order. */
const portsOf = (pid: number | undefined, wanted: string): ReadonlyArray<number> => {
  const inodes = new Set(readdirSync(`/proc/${pid}/fd`).flatMap((fd) => socketOf(`/proc/${pid}/fd/${fd}`)))
  const rows = ["tcp", "tcp6"].flatMap((table) => readFileSync(`/proc/${pid}/net/${table}`, "utf8").split("\n"))
  const ports = rows.flatMap((row) => {
    const [, local = "", , state, , , , , , inode = ""] = row.trim().split(/\s+/)
    return state === wanted && inodes.has(inode) ? [Number.parseInt(local.split(":")[1] ?? "", 16)] : []
  })
  return ports.toSorted((a, b) => a - b)
}

const socketOf = (link: string): ReadonlyArray<string> => {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(link))?.slice(1) ?? []
  } catch {
    return [] // closed since it was listed
  }
}

/** The ports that a process listens on. */
export const listenedBy = (pid: number | undefined): ReadonlyArray<number> => portsOf(pid, listens)

/** How many connections of clients to a port a process serves. */
export const servedBy = (pid: number, port: number): number =>
  portsOf(pid, established).filter((it) => it === port).length

/** The processes that a process has started and that run. */
export const childrenOf = (pid: number): ReadonlyArray<number> =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number)
  )
