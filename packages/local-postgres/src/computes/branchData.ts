/** Data of a branch: with an account and a secret of their own, before they get their name. */
import { Effect } from "effect"
import type { Cluster } from "../cluster/Cluster.ts"
import { settleData } from "../cluster/SupervisorSecret.ts"
import { unusedAccount } from "../machine/ComputeAccounts.ts"
import type { Machine } from "../machine/Machine.ts"

/** `branches` is the directory of all of them. `made` writes the data to `making`. */
export const dataOfBranch =
  (branches: string, machine: Machine) =>
  <E, R>(cluster: Cluster, making: string, made: Effect.Effect<void, E, R>) =>
    Effect.gen(function* () {
      yield* made
      const account = machine.user.drops ? yield* unusedAccount(branches, machine.uids) : machine.user.owner
      yield* settleData(cluster, making, machine, account)
    })
