/**
 * Limits the credentials of a branch, under the branch's lock (docs/design/api.md, Quotas). Every start and each change
 * of roles reads all of them, and every session of a reader takes a place of the compute.
 */
import { Effect } from "effect"
import type { OrgId } from "../../Ids.ts"
import { Conflict } from "../../Refusals.ts"
import type { Branch } from "../../records/projects/Branch.ts"
import type { BranchRole } from "../../records/projects/BranchRole.ts"
import { BranchRoleStore } from "../../records/projects/BranchRoleStore.ts"
import { decideTarget, isAgent, lacksPermission } from "../../rules/authorization/decide.ts"
import type { AnyCaller } from "../../rules/authorization/Principal.ts"
import { Quotas } from "../quotas/Quotas.ts"

/** Credentials that a caller who may not write to the branch may have on it. */
const ownReaders = 4
/**
 * The readers that a branch may have, of all callers together, while such callers make more. Postgres 15 keeps nothing
 * free for writers (docs/design/proxy.md P29): with a reader's sessions there, so many readers leave ten of a compute's
 * 90.
 */
const mostReaders = 20

/** Whether the caller reads only: an agent key on main, or a person whose role mints no writers. */
const readsOnly = (caller: AnyCaller, branch: Branch) =>
  decideTarget({ agent: "not_main" }, caller, branch) !== undefined ||
  lacksPermission(caller, "mint_read_write") !== undefined

/** Whether the agent key minted the role, or else the person, also through keys. */
const isOwn = (caller: AnyCaller, { api_key_id, minted_by }: BranchRole) =>
  caller.kind === "api_key" && isAgent(caller) ? api_key_id === caller.api_key_id : minted_by?.id === caller.user.id

export const makeMayMintMore = Effect.gen(function* () {
  const quotas = yield* Quotas
  const roles = yield* BranchRoleStore

  return Effect.fnUntraced(function* (caller: AnyCaller, org: OrgId, branch: Branch) {
    const present = yield* roles.present(branch.id)
    yield* quotas.takeOne(org, "credentials_per_branch", present.length)
    if (!readsOnly(caller, branch)) return
    const own = present.filter((role) => isOwn(caller, role)).length
    if (own >= ownReaders)
      return yield* new Conflict({
        reason: `You have ${own} credentials of this branch, and may have ${ownReaders} of a branch that you may not write to. Revoke one first.`
      })
    const readers = present.filter(({ access }) => access === "read_only").length
    if (readers >= mostReaders)
      return yield* new Conflict({
        reason: `The branch has ${readers} read-only credentials. Beyond ${mostReaders}, only those who may write to it mint more.`
      })
  })
})
