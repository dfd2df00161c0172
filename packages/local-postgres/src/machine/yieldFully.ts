/** The end of a server's preparation: from then on its processes yield the CPU as those of every tenant. */
import { constants, getPriority, setPriority } from "node:os"
import { Effect } from "effect"
import { CpuGroups, joinGroup, pidsIn } from "./CpuGroups.ts"
import { childrenOf } from "./Processes.ts"
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
    const group = (yield* CpuGroups)?.of(cluster)
    const lowest = Math.min(constants.priority.PRIORITY_LOW, getPriority() + niceness)
    const look = () => {
      const inside = group === undefined ? undefined : new Set(pidsIn(group))
      return [postmaster, ...childrenOf(postmaster)].map((pid) => {
        const entered = group !== undefined && inside?.has(pid) === false && joinGroup(group, pid)
        return lower(pid, lowest) || entered
      })
    }
    while (look().some((changed) => changed)) yield* Effect.sleep(1)
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
