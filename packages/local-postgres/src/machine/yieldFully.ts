/** The end of a server's preparation: from then on its processes yield the CPU as those of every tenant. */
import { constants, getPriority, setPriority } from "node:os"
import { Effect } from "effect"
import { CpuGroups } from "./CpuGroups.ts"
import { joinGroup, pidsIn } from "./cpuGroupFiles.ts"
import { childrenOf } from "./Processes.ts"
import { serves } from "./serverGroups.ts"
import { yieldGroup } from "./sessionGroups.ts"
import { niceness } from "./yieldingCpu.ts"

/**
 * Gives a server that was started with `preparingNiceness`, and each of its processes, that of one which serves. Call it
 * before its users can connect: what their statements run at has to be decided then.
 *
 * The postmaster comes first, because what it starts then inherits it. A process that it is just starting is not among its
 * children yet, so they are looked at until a look has nothing to change.
 */
export const yieldFully = (postmaster: number, cluster: string) =>
  Effect.gen(function* () {
    const groups = yield* CpuGroups
    const lowest = Math.min(constants.priority.PRIORITY_LOW, getPriority() + niceness)
    if (groups !== undefined) {
      const group = groups.of(cluster)
      // What the postmaster starts from then on begins in its group.
      if (!pidsIn(group).includes(postmaster)) joinGroup(group, postmaster)
      const children = childrenOf(postmaster)
      const inside = new Set(pidsIn(group))
      for (const pid of children) if (!inside.has(pid)) joinGroup(group, pid)
      if (!inside.has(postmaster)) yield* Effect.logWarning(`A server is in no CPU control group: ${group} refuses it.`)
      serves(groups, cluster)
    }
    while ([postmaster, ...childrenOf(postmaster)].map((pid) => lower(pid, lowest)).some((changed) => changed))
      yield* Effect.sleep(1)
  })

/** Whether the priority of the process was higher. One that has ended has none. */
const lower = (pid: number, lowest: number): boolean => {
  try {
    if (getPriority(pid) >= lowest) return false
    setPriority(pid, lowest)
    yieldGroup(pid, niceness)
    return true
  } catch {
    return false
  }
}
