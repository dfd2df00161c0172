/** `BranchRoleStore` on Postgres. */
import { BranchRole, BranchRoleStore } from "@narthex/core"
import { DateTime, Effect, Layer } from "effect"
import { Database } from "../database/Database.ts"
import { tableOf } from "../database/tableOf.ts"

const make = Effect.gen(function* () {
  const database = yield* Database
  const roles = tableOf(database, "branch_role", BranchRole)

  return BranchRoleStore.of({
    insert: (role) =>
      Effect.asVoid(roles.write("BranchRoleStore.insert", role, `${roles.insertInto} ${roles.record("$1")}`)),
    valid: (branch, now) =>
      roles.all(
        "BranchRoleStore.valid",
        `select * from branch_role
         where branch_id = $1 and revoked_at is null and (expires_at is null or expires_at > $2)
         order by created_at, role`,
        [branch, DateTime.toDateUtc(now)]
      ),
    revokeAgentRoles: (branch, now) =>
      Effect.map(
        database.query(
          "BranchRoleStore.revokeAgentRoles",
          `update branch_role set revoked_at = $2
           where branch_id = $1 and minted_by_agent and revoked_at is null returning role`,
          [branch, DateTime.toDateUtc(now)]
        ),
        (rows) => rows.length
      )
  })
})

export const PostgresBranchRoleStore = {
  layer: Layer.effect(BranchRoleStore, make)
}
