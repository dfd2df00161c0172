/** Data of a branch: with an account and a secret of their own, before they get their name; and names that files may have. */
import { join } from "node:path"
import type { BranchId } from "@narthex/core"
import { Effect } from "effect"
import { type Cluster, clusterAt } from "../cluster/Cluster.ts"
import { settleData } from "../cluster/SupervisorSecret.ts"
import { unusedAccount } from "../machine/ComputeAccounts.ts"
import { ImpossibleRequest } from "../machine/LocalPostgresError.ts"
import type { Machine } from "../machine/Machine.ts"

/** Ids become file names, and the domain does not restrict their form. */
export const isFileName = (id: string) => /^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(id)

export const clusterOfBranch = (branches: string) => (branch: BranchId) =>
  isFileName(branch)
    ? Effect.succeed(clusterAt(join(branches, branch), "compute"))
    : Effect.fail(new ImpossibleRequest({ reason: `${branch} cannot be the name of a directory.` }))

/** `branches` is the directory of all of them. `made` writes the data to `making`. */
export const dataOfBranch =
  (branches: string, machine: Machine) =>
  <E, R>(cluster: Cluster, making: string, made: Effect.Effect<void, E, R>) =>
    Effect.gen(function* () {
      yield* made
      const account = machine.user.drops ? yield* unusedAccount(branches, machine.uids) : machine.user.owner
      yield* settleData(cluster, making, machine, account)
    })
