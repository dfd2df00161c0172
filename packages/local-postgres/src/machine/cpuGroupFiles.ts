/** The files of one CPU control group, of either version (cgroups(7)). */
import { readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** Removes a group. `false`: it has processes or groups, or is not there. */
export const removeGroup = (group: string): boolean => {
  try {
    rmdirSync(group)
    return true
  } catch {
    return false
  }
}

/** Moves a process to a group. `false`: one of them has ended. */
export const joinGroup = (group: string, pid: number): boolean => {
  try {
    writeFileSync(join(group, "cgroup.procs"), String(pid), { flag: "r+" })
    return true
  } catch {
    return false
  }
}

/** The processes in a group; none if there is no such group. */
export const pidsIn = (group: string): ReadonlyArray<number> => {
  try {
    return readFileSync(join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/** Gives the groups within this one shares of their own, which version 1 does by itself. */
export const divideGroup = (version: 1 | 2, group: string): void => {
  if (version === 2) writeFileSync(join(group, "cgroup.subtree_control"), "+cpu")
}

/**
 * Sets the share of a group, or that it yields (`idle`): a process of another group preempts its processes at once, and
 * while another group wants the core it has a very small share.
 *
 * Pitfall: a weight in place of `idle`. Since Linux 6.6 a process of any weight may finish its time slice before another one
 * runs, up to a tick of 4 ms. A request is ten to thirty turns of the platform and its store, and each would wait for that.
 */
export const setShare = (version: 1 | 2, group: string, share: number | "idle"): void => {
  const write = (file: string, value: number) => writeFileSync(join(group, file), `${value}\n`, { flag: "r+" })
  write("cpu.idle", share === "idle" ? 1 : 0)
  // The kernel forgets the share of a group that was idle, and refuses one for a group that is.
  if (share === "idle") return
  if (version === 2) write("cpu.weight", share)
  else write("cpu.shares", Math.round((share * 1024) / 100))
}
