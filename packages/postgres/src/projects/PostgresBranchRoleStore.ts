/**
 * `BranchRoleStore` on Postgres.
 *
 * Pitfall: updating several rows in the order in which a scan finds them. Two such updates could deadlock, so each
 * locks its rows in the order of the primary key first.
 */
import { BranchId, BranchRole, BranchRoleStore, ProjectId, type RolesToEnd } from "@narthex/core"
import { DateTime, Effect, Layer, Schema } from "effect"
import { Database } from "../database/Database.ts"
import { json, reading, tableOf } from "../database/tableOf.ts"

const Ref = Schema.Struct({ branch_id: BranchId, project_id: ProjectId })
const Counted = Schema.Struct({ ...BranchRole.fields, role_count: Schema.Int })

/** The condition that selects the roles, with its parameters `$2…`; `$1` is the instant. */
const conditionOf = (which: RolesToEnd): readonly [condition: string, params: ReadonlyArray<unknown>] => {
  if ("branch_id" in which)
    return "role" in which
      ? ["branch_id = $2 and role = $3", [which.branch_id, which.role]]
      : ["branch_id = $2", [which.branch_id]]
  if ("project_id" in which) return ["project_id = $2", [which.project_id]]
  if ("api_key_ids" in which) return ["api_key_id = any ($2)", [which.api_key_ids]]
  const { access = null, org_id = null, user_id } = which
  return [
    "minter_id = $2 and ($3::text is null or org_id = $3) and ($4::text is null or access = $4)",
    [user_id, org_id, access]
  ]
}

const make = Effect.gen(function* () {
  const database = yield* Database
  const roles = tableOf(database, "branch_role", BranchRole)
  const counted = reading(database, Counted)
  const refs = reading(database, Ref)

  /** Updates the rows that match, in the order of their key. `$1` is the instant. */
  const update = (name: string, set: string, condition: string, now: DateTime.Utc, params: ReadonlyArray<unknown>) =>
    Effect.map(
      database.query(
        `BranchRoleStore.${name}`,
        `with held as (
           select branch_id as branch, role as name from narthex.branch_role where ${condition}
           order by branch_id, role for update
         )
         update narthex.branch_role r set ${set} from held where r.branch_id = held.branch and r.role = held.name
         returning r.role`,
        [DateTime.toDateUtc(now), ...params]
      ),
      (rows) => rows.length
    )

  return BranchRoleStore.of({
    insert: (role) =>
      Effect.asVoid(roles.write("BranchRoleStore.insert", role, `${roles.insertInto} ${roles.record("$1")}`)),
    find: (branch, role) =>
      roles.first("BranchRoleStore.find", "select * from narthex.branch_role where branch_id = $1 and role = $2", [
        branch,
        role
      ]),
    valid: (branch, now) =>
      roles.all(
        "BranchRoleStore.valid",
        `select * from narthex.branch_role
         where branch_id = $1 and revoked_at is null and (expires_at is null or expires_at > $2)
         order by created_at, role`,
        [branch, DateTime.toDateUtc(now)]
      ),
    present: (branch) =>
      roles.all(
        "BranchRoleStore.present",
        "select * from narthex.branch_role where branch_id = $1 and removed_at is null order by created_at, role",
        [branch]
      ),
    list: (branch, owner, { after, limit }) => {
      const [column, id] =
        owner === null
          ? ["branch_id", branch]
          : "api_key_id" in owner
            ? ["api_key_id", owner.api_key_id]
            : ["minter_id", owner.user_id]
      return roles.all(
        "BranchRoleStore.list",
        `select * from narthex.branch_role
         where branch_id = $1 and ${column} = $2 and removed_at is null
           ${after === null ? "" : "and (created_at, role) < ($4, $5)"}
         order by created_at desc, role desc limit $3`,
        [branch, id, limit, ...(after === null ? [] : [DateTime.toDateUtc(after.created_at), after.role])]
      )
    },
    ofMember: (org, user, now, limit) =>
      Effect.map(
        counted.all(
          "BranchRoleStore.ofMember",
          `select *, (count(*) over ())::integer as role_count from narthex.branch_role
           where minter_id = $2 and org_id = $1 and revoked_at is null and (expires_at is null or expires_at > $3)
           order by created_at desc, role desc limit $4`,
          [org, user, DateTime.toDateUtc(now), limit]
        ),
        (rows) => ({
          count: rows[0]?.role_count ?? 0,
          roles: rows.map(({ role_count: _, ...row }) => new BranchRole(row))
        })
      ),
    revokeAgentRoles: (branch, now) =>
      update(
        "revokeAgentRoles",
        "revoked_at = $1",
        "branch_id = $2 and minted_by_agent and access = 'read_write' and revoked_at is null",
        now,
        [branch]
      ),
    revoke: (which, now) => {
      const [condition, params] = conditionOf(which)
      return update("revoke", "revoked_at = $1", `${condition} and revoked_at is null`, now, params)
    },
    handOver: (org, from, to, now) =>
      update(
        "handOver",
        "minted_by = $4, api_key_id = null, api_key_name = null",
        "minter_id = $2 and org_id = $3 and revoked_at is null and (expires_at is null or expires_at > $1)",
        now,
        [from, org, json(to)]
      ),
    confirm: (branch, { applied, removed }, now) =>
      Effect.asVoid(
        update(
          "confirm",
          `applied_at = case when role = any ($3) then coalesce(applied_at, $1) else applied_at end,
           removed_at = case when role = any ($4) then coalesce(removed_at, $1) else removed_at end`,
          "branch_id = $2 and (role = any ($3) or role = any ($4))",
          now,
          [branch, applied, removed]
        )
      ),
    ending: (now, after, limit) =>
      refs.all(
        "BranchRoleStore.ending",
        // Two conditions, because each has an index of its own.
        `select branch_id, project_id from narthex.branch_role
         where removed_at is null and revoked_at is not null and ($2::text is null or branch_id > $2)
         union
         select branch_id, project_id from narthex.branch_role
         where removed_at is null and expires_at <= $1 and ($2::text is null or branch_id > $2)
         order by branch_id limit $3`,
        [DateTime.toDateUtc(now), after, limit]
      )
  })
})

export const PostgresBranchRoleStore = {
  layer: Layer.effect(BranchRoleStore, make)
}
