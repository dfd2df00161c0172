/** The database credentials of a world: made when a cell needs one, and noted as they were made. */
import {
  ApiKeyId,
  BranchId,
  type BranchRole,
  type BranchRoleStore,
  type OrgId,
  ProjectId,
  type User
} from "@narthex/core"
import { aBranchRole } from "@narthex/core/testing"
import { Effect } from "effect"

interface Place {
  readonly branch_id: string
  readonly project_id: string
}

/** The name of the role that a person, or a key of the person, minted on a branch. Later calls return the same one. */
export const rolesOf = (org_id: OrgId, noted: Array<BranchRole>, store: BranchRoleStore["Service"]) => {
  const made = new Map<string, string>()
  return (
    { branch_id, project_id }: Place,
    minter: User,
    key_id: string | null,
    minted_by_agent: boolean
  ): Effect.Effect<string> => {
    const name = `${project_id} ${branch_id} ${minter.id} ${key_id}`
    const found = made.get(name)
    if (found !== undefined) return Effect.succeed(found)
    const record = aBranchRole(BranchId.make(branch_id), {
      project_id: ProjectId.make(project_id),
      org_id,
      minted_by: minter.ref,
      minted_by_agent,
      api_key_id: key_id === null ? null : ApiKeyId.make(key_id)
    })
    made.set(name, record.role)
    noted.push(record)
    return Effect.as(Effect.orDie(store.insert(record)), record.role)
  }
}
