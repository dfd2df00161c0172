/** `OverviewStore` on Postgres: each method is one statement, whose parts read as many rows of an index as they show. */
import {
  Branch,
  BranchId,
  branchesCounted,
  Endpoint,
  endpointsInUse,
  IpRule,
  NamedProject,
  Names,
  OrganizationView,
  OverviewStore,
  ProjectId,
  StoredOperation
} from "@narthex/core"
import { DateTime, Effect, Layer, Schema } from "effect"
import { Database } from "../database/Database.ts"
import { reading } from "../database/tableOf.ts"
import { organizationDisk } from "../quotas/organizationDisk.ts"

const PersonRow = Schema.Struct({
  organizations: Schema.Array(OrganizationView),
  pending_invitations: Schema.Int,
  projects: Schema.Array(NamedProject)
})

const ContentsRow = Schema.Struct({
  branches: Schema.Array(Branch),
  disks: Schema.Array(
    Schema.Struct({
      branch_id: BranchId,
      size_bytes: Schema.NullOr(Schema.Int),
      size_measured_at: Schema.NullOr(Schema.DateTimeUtcFromString),
      held: Schema.Int,
      terms: Schema.Struct({
        personal: Schema.Boolean,
        overrides: Schema.Struct({ disk_bytes: Schema.optionalKey(Schema.Int) })
      })
    })
  ),
  endpoints: Schema.Array(Endpoint),
  operations: Schema.Array(StoredOperation),
  rules: Schema.Array(IpRule)
})

const UseRow = Schema.Struct({
  project_id: ProjectId,
  endpoint: Schema.NullOr(Endpoint),
  last_used_at: Schema.NullOr(Schema.DateTimeUtcFromString),
  branches_count: Schema.Int,
  size_bytes: Schema.NullOr(Schema.Int)
})

const noNames: Names = { projects: [], branches: [], people: [] }
const empty: typeof ContentsRow.Type = { branches: [], disks: [], endpoints: [], operations: [], rules: [] }
const nothing: typeof PersonRow.Type = { organizations: [], pending_invitations: 0, projects: [] }

const ofPerson = `
select
  (select coalesce(jsonb_agg(mine.organization order by mine.org_id), '[]')
   from (select m.org_id, to_jsonb(o) || jsonb_build_object('role', m.role) as organization
         from narthex.membership m join narthex.organization o on o.id = m.org_id
         where m.user_id = $1 order by m.org_id limit $2) mine) as organizations,
  (select count(*)::int
   from (select 1 from narthex.invitation
         where email = $3 and accepted_at is null and revoked_at is null and expires_at > $4
         order by id desc limit $5) waiting) as pending_invitations,
  (select coalesce(jsonb_agg(jsonb_build_object('id', newest.id, 'name', newest.name) order by newest.id desc), '[]')
   from (select id, name from narthex.project where org_id = $6 and deleted_at is null
         order by id desc limit $7) newest) as projects`

/**
 * Pitfall: joining sizes to a number of branches that the plan does not know. It reads the sizes of all branches; `offset 0`
 * keeps the look-up of each.
 */
const ofProject = `
with newest as (
  select * from narthex.branch where project_id = $1 and deleted_at is null order by id desc limit $2),
owner as materialized (select ${organizationDisk("p.org_id")} from narthex.project p where p.id = $1)
select
  (select coalesce(jsonb_agg(to_jsonb(newest) order by newest.id desc), '[]') from newest) as branches,
  (select coalesce(jsonb_agg(jsonb_build_object(
     'branch_id', newest.id, 'size_bytes', case when disk.measured_at is not null then disk.bytes end,
     'size_measured_at', disk.measured_at, 'held', owner.held, 'terms', owner.terms)), '[]')
   from newest cross join lateral (
     select bytes, measured_at from narthex.branch_disk where branch_id = newest.id offset 0
   ) disk cross join owner) as disks,
  (select coalesce(jsonb_agg(to_jsonb(e) order by e.id desc), '[]')
   from (select * from narthex.endpoint where project_id = $1 and deleted_at is null order by id desc limit $3) e) as endpoints,
  (select coalesce(jsonb_agg(to_jsonb(o) order by o.id desc), '[]')
   from (select * from narthex.operation where project_id = $1 order by id desc limit $4) o) as operations,
  (select coalesce(jsonb_agg(to_jsonb(r) order by r.position), '[]')
   from narthex.ip_rule r where r.project_id = $1 and $5::boolean) as rules`

/** `$3`: the branch that the caller is narrowed to. */
const visible = "e.deleted_at is null and ($3::text is null or e.branch_id = $3)"

/** Pitfall: one condition for both, `$3 is null or b.id = $3`. The plan takes it for rare, and reads every branch. */
const ofProjects = `
select p.id as project_id, to_jsonb(shown) as endpoint, used.at as last_used_at, held.branches_count, held.size_bytes
from unnest($1::text[], $2::text[]) as p (id, default_branch_id)
left join lateral (
  (select 1 as rank, e.* from narthex.endpoint e
   where e.branch_id = p.default_branch_id and e.type = 'read_write' and ${visible} limit 1)
  union all
  (select 2 as rank, e.* from narthex.endpoint e
   where e.branch_id = p.default_branch_id and ${visible} order by e.id desc limit 1)
  union all
  (select 3 as rank, e.* from narthex.endpoint e where e.project_id = p.id and ${visible} order by e.id desc limit 1)
  order by rank limit 1) shown on true
left join lateral (
  select max(greatest(newest.last_active_at, newest.started_at, newest.suspended_at)) as at
  from (select e.last_active_at, e.started_at, e.suspended_at from narthex.endpoint e
        where e.project_id = p.id and ${visible} order by e.id desc limit ${endpointsInUse}) newest) used on true
cross join lateral (
  select count(*)::int as branches_count, sum(disk.bytes)::bigint as size_bytes
  from (
    (select b.id from narthex.branch b where $3::text is null and b.project_id = p.id and b.deleted_at is null
     order by b.id desc limit ${branchesCounted})
    union all
    select b.id from narthex.branch b where b.id = $3 and b.project_id = p.id and b.deleted_at is null) newest
  left join lateral (
    select d.bytes from narthex.branch_disk d where d.branch_id = newest.id and d.measured_at is not null offset 0
  ) disk on true) held`

const names = `
with known as (select id, name, deleted_at is not null as deleted from narthex.project where org_id = $1 and id = any ($2::text[])),
  asked as (
    select id from narthex.branch where id = any ($3::text[])
    union
    select parent_id from narthex.branch where id = any ($3::text[]) and parent_id is not null)
select
  (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'name', name, 'deleted', deleted) order by id desc), '[]')
   from known) as projects,
  (select coalesce(jsonb_agg(jsonb_build_object('id', b.id, 'name', b.name, 'parent_id', b.parent_id)
     order by b.id desc), '[]')
   from asked join narthex.branch b on b.id = asked.id join known on known.id = b.project_id) as branches,
  (select coalesce(jsonb_agg(jsonb_build_object('id', u.id, 'email', u.email, 'name', u.name) order by u.id desc), '[]')
   from narthex.membership m join narthex.user_account u on u.id = m.user_id
   where m.org_id = $1 and m.user_id = any ($4::text[])) as people`

const make = Effect.gen(function* () {
  const database = yield* Database
  const people = reading(database, PersonRow)
  const contents = reading(database, ContentsRow)
  const uses = reading(database, UseRow)
  const named = reading(database, Names)

  return OverviewStore.of({
    ofPerson: ({ address, limits, now, org, user }) =>
      Effect.map(
        people.all("OverviewStore.ofPerson", ofPerson, [
          user,
          limits.organizations,
          address,
          DateTime.toDateUtc(now),
          limits.invitations,
          org,
          limits.projects
        ]),
        ([row = nothing]) => row
      ),
    ofProject: (project, { branches, endpoints, operations, rules }) =>
      Effect.map(
        contents.all("OverviewStore.ofProject", ofProject, [project, branches, endpoints, operations, rules]),
        ([row = empty]) => row
      ),
    ofProjects: (projects, branch) =>
      uses.all("OverviewStore.ofProjects", ofProjects, [
        projects.map(({ id }) => id),
        projects.map(({ default_branch_id }) => default_branch_id),
        branch
      ]),
    names: (org, asked) =>
      Effect.map(
        named.all("OverviewStore.names", names, [org, asked.projects, asked.branches, asked.people]),
        ([row = noNames]) => row
      )
  })
})

export const PostgresOverviewStore = {
  layer: Layer.effect(OverviewStore, make)
}
