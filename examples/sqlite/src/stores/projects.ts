/** Projects, branches and the roles of branches. Deleted projects and branches keep their rows. */
import {
  Branch,
  type BranchId,
  BranchRole,
  BranchRoleStore,
  BranchStore,
  type OrgId,
  Project,
  type ProjectId,
  ProjectStore,
  pageOf,
  type RoleOwner,
  type RolesToEnd,
  type UserId
} from "@narthex/core"
import { DateTime, Effect, Layer, Option, Schema } from "effect"
import { documents } from "../documents.ts"
import { Sqlite, type Value } from "../Sqlite.ts"

const deleted_at = Schema.NullOr(Schema.DateTimeUtcFromString)
const living = "doc ->> 'deleted_at' is null"

const projects = Effect.gen(function* () {
  const { transaction } = yield* Sqlite
  const projects = yield* documents("project", Schema.Struct({ project: Project, deleted_at }))
  const findAnywhere = (id: ProjectId) =>
    Effect.map(
      projects.one(`id = ?1 and ${living}`, id),
      Option.map(({ project }) => project)
    )
  const find = (org: OrgId, id: ProjectId) =>
    Effect.map(
      findAnywhere(id),
      Option.filter((project) => project.org_id === org)
    )
  return ProjectStore.of({
    insert: (project) => projects.put(project.id, { project, deleted_at: null }),
    find,
    lock: find,
    hold: find,
    findAnywhere,
    findRetained: (id) =>
      Effect.map(
        projects.get(id),
        Option.map(({ project }) => project)
      ),
    update: (project) =>
      transaction(projects.change(project.id, (row) => (row.deleted_at === null ? { ...row, project } : row))),
    markDeleted: (id, now) => transaction(projects.change(id, (row) => ({ ...row, deleted_at: now }))),
    list: (org, only, page) =>
      Effect.map(
        projects.newestFirst(
          page,
          `doc ->> '$.project.org_id' = ?1 and (?2 is null or id = ?2) and ${living}`,
          org,
          only
        ),
        (rows) =>
          pageOf(
            rows.map(({ project }) => project),
            page
          )
      )
  })
})

const branches = Effect.gen(function* () {
  const { transaction } = yield* Sqlite
  const branches = yield* documents("branch", Schema.Struct({ branch: Branch, deleted_at }))
  const findAnywhere = (id: BranchId) =>
    Effect.map(
      branches.one(`id = ?1 and ${living}`, id),
      Option.map(({ branch }) => branch)
    )
  const find = (project: ProjectId, id: BranchId) =>
    Effect.map(
      findAnywhere(id),
      Option.filter((branch) => branch.project_id === project)
    )
  return BranchStore.of({
    put: (branch) =>
      transaction(
        Effect.gen(function* () {
          const former = Option.getOrUndefined(yield* branches.get(branch.id))
          const deleted_at = former?.deleted_at ?? null
          const same = `doc ->> '$.branch.project_id' = ?1 and doc ->> '$.branch.name' = ?2 and id <> ?3 and ${living}`
          const { id, name, project_id } = branch
          if (deleted_at === null && (yield* branches.exists(same, project_id, name, id))) return false
          yield* branches.put(id, { branch, deleted_at })
          return true
        })
      ),
    find,
    findAnywhere,
    findRetained: (id) =>
      Effect.map(
        branches.get(id),
        Option.map(({ branch }) => branch)
      ),
    lock: find,
    markDeleted: (id, now) => transaction(branches.change(id, (row) => ({ ...row, deleted_at: now }))),
    list: (project, only, page) =>
      Effect.map(
        branches.newestFirst(
          page,
          `doc ->> '$.branch.project_id' = ?1 and (?2 is null or id = ?2) and ${living}`,
          project,
          only
        ),
        (rows) =>
          pageOf(
            rows.map(({ branch }) => branch),
            page
          )
      ),
    hasChildren: (id) => branches.exists(`doc ->> '$.branch.parent_id' = ?1 and ${living}`, id),
    expired: (now, limit) =>
      Effect.map(
        branches.where(`doc ->> '$.branch.expires_at' <= ?1 and ${living} limit ?2`, DateTime.formatIso(now), limit),
        (rows) => rows.map(({ branch }) => branch)
      )
  })
})

/** Which roles these are, as a condition with its values. */
const matching = (which: RolesToEnd): readonly [condition: string, ...values: ReadonlyArray<Value>] => {
  if ("role" in which) return ["doc ->> 'branch_id' = ?1 and doc ->> 'role' = ?2", which.branch_id, which.role]
  if ("branch_id" in which) return ["doc ->> 'branch_id' = ?1", which.branch_id]
  if ("project_id" in which) return ["doc ->> 'project_id' = ?1", which.project_id]
  if ("api_key_ids" in which)
    return ["doc ->> 'api_key_id' in (select value from json_each(?1))", JSON.stringify(which.api_key_ids)]
  return [
    `doc ->> '$.minted_by.id' = ?1 and (?2 is null or doc ->> 'org_id' = ?2) and (?3 is null or doc ->> 'access' = ?3)`,
    which.user_id,
    which.org_id ?? null,
    which.access ?? null
  ]
}

const ownedBy = (owner: RoleOwner | null): readonly [condition: string, value: string | null] => {
  if (owner === null) return ["?2 is null", null]
  return "api_key_id" in owner
    ? ["doc ->> 'api_key_id' = ?2", owner.api_key_id]
    : ["doc ->> '$.minted_by.id' = ?2", owner.user_id]
}

const roles = Effect.gen(function* () {
  const { query, transaction } = yield* Sqlite
  const roles = yield* documents("branch_role", BranchRole)
  const keyOf = ({ branch_id, role }: BranchRole) => `${branch_id} ${role}`
  const oldestFirst = "order by doc ->> 'created_at', doc ->> 'role'"
  const newestFirst = "order by doc ->> 'created_at' desc, doc ->> 'role' desc"
  /** Not valid at the instant `now`, a parameter. */
  const ended = (now: string) => `(doc ->> 'revoked_at' is not null or ifnull(doc ->> 'expires_at' <= ${now}, false))`

  const change = (edit: (row: BranchRole) => Partial<BranchRole>, condition: string, ...values: ReadonlyArray<Value>) =>
    transaction(
      Effect.gen(function* () {
        const rows = yield* roles.where(condition, ...values)
        for (const row of rows) yield* roles.put(keyOf(row), new BranchRole({ ...row, ...edit(row) }))
        return rows.length
      })
    )
  const revoke = (now: DateTime.Utc, condition: string, ...values: ReadonlyArray<Value>) =>
    change(() => ({ revoked_at: now }), `${condition} and doc ->> 'revoked_at' is null`, ...values)
  const ofMember = `doc ->> 'org_id' = ?1 and doc ->> '$.minted_by.id' = ?2 and not ${ended("?3")}`
  const member = (org: OrgId, user: UserId, now: DateTime.Utc) => [org, user, DateTime.formatIso(now)] as const

  return BranchRoleStore.of({
    insert: (role) => roles.put(keyOf(role), role),
    find: (branch, role) => roles.get(`${branch} ${role}`),
    valid: (branch, now) =>
      roles.where(`doc ->> 'branch_id' = ?1 and not ${ended("?2")} ${oldestFirst}`, branch, DateTime.formatIso(now)),
    present: (branch) =>
      roles.where(`doc ->> 'branch_id' = ?1 and doc ->> 'removed_at' is null ${oldestFirst}`, branch),
    list: (branch, owner, { after, limit }) => {
      const [owned, id] = ownedBy(owner)
      return roles.where(
        `doc ->> 'branch_id' = ?1 and doc ->> 'removed_at' is null and ${owned}
         and (?3 is null or (doc ->> 'created_at', doc ->> 'role') < (?3, ?4)) ${newestFirst} limit ?5`,
        branch,
        id,
        after === null ? null : DateTime.formatIso(after.created_at),
        after?.role ?? null,
        limit
      )
    },
    ofMember: (org, user, now, limit) =>
      transaction(
        Effect.gen(function* () {
          const [row] = yield* query(
            `select count(*) as n from branch_role where ${ofMember}`,
            ...member(org, user, now)
          )
          const newest = yield* roles.where(`${ofMember} ${newestFirst} limit ?4`, ...member(org, user, now), limit)
          return { count: Number(row?.["n"]), roles: newest }
        })
      ),
    revokeAgentRoles: (branch, now) =>
      revoke(now, "doc ->> 'branch_id' = ?1 and doc ->> 'minted_by_agent' and doc ->> 'access' = 'read_write'", branch),
    revoke: (which, now) => revoke(now, ...matching(which)),
    handOver: (org, from, to, now) =>
      change(() => ({ minted_by: to, api_key_id: null, api_key_name: null }), ofMember, ...member(org, from, now)),
    confirm: (branch, { applied, removed }, now) =>
      Effect.asVoid(
        change(
          ({ applied_at, removed_at, role }) => ({
            applied_at: applied.includes(role) ? (applied_at ?? now) : applied_at,
            removed_at: removed.includes(role) ? (removed_at ?? now) : removed_at
          }),
          "doc ->> 'branch_id' = ?1 and doc ->> 'role' in (select value from json_each(?2))",
          branch,
          JSON.stringify([...applied, ...removed])
        )
      ),
    ending: (now, after, limit) =>
      Effect.map(
        roles.where(
          `doc ->> 'removed_at' is null and ${ended("?1")} and (?2 is null or doc ->> 'branch_id' > ?2)
           group by doc ->> 'branch_id' order by doc ->> 'branch_id' limit ?3`,
          DateTime.formatIso(now),
          after,
          limit
        ),
        (rows) => rows.map(({ branch_id, project_id }) => ({ branch_id, project_id }))
      )
  })
})

export const layerProjects = Layer.mergeAll(
  Layer.effect(ProjectStore, projects),
  Layer.effect(BranchStore, branches),
  Layer.effect(BranchRoleStore, roles)
)
