/** `QuotaStore` on Postgres: each quota is a count of the rows themselves. */
import { type Amounts, type BranchDisk, type Holder, type QuotaName, QuotaStore } from "@narthex/core"
import { DateTime, Effect, Layer, Option } from "effect"
import { Database } from "../database/Database.ts"
import { lockOf } from "../database/exclusively.ts"
import { json } from "../database/tableOf.ts"
import { organizationDisk } from "./organizationDisk.ts"

/** The endpoints of the organization whose compute runs, or that an unfinished operation starts. */
const running = `narthex.endpoint e join narthex.project p on p.id = e.project_id
    where p.org_id = $1 and p.deleted_at is null and e.deleted_at is null
      and (e.current_state = 'active' or e.pending_state = 'active' or exists (
        select 1 from narthex.operation o
        where o.branch_id = e.branch_id and o.endpoint_id = e.id and o.action = 'start_compute'
          and o.status in ('scheduling', 'running', 'cancelling')))`

/** `$1` the organization, `$2` a project or null, `$3` the time. A number that no row gives is 0. */
const counts: Record<QuotaName, string> = {
  projects: "select count(*) from narthex.project where org_id = $1 and deleted_at is null",
  branches: `select count(*) from narthex.branch b join narthex.project p on p.id = b.project_id
    where p.org_id = $1 and p.deleted_at is null and b.deleted_at is null`,
  branches_per_project: `select coalesce(max(n), 0) from (
    select count(*) as n from narthex.branch b join narthex.project p on p.id = b.project_id
    where p.org_id = $1 and p.deleted_at is null and b.deleted_at is null and ($2::text is null or p.id = $2)
    group by p.id) as each_project`,
  sandboxes: `select count(*) from narthex.branch b join narthex.project p on p.id = b.project_id
    where p.org_id = $1 and p.deleted_at is null and b.deleted_at is null and b.expires_at is not null`,
  endpoints: `select count(*) from narthex.endpoint e join narthex.project p on p.id = e.project_id
    where p.org_id = $1 and p.deleted_at is null and e.deleted_at is null`,
  credentials_per_branch: `select coalesce(max(n), 0) from (
    select count(*) as n from narthex.branch_role r join narthex.branch b on b.id = r.branch_id join narthex.project p on p.id = b.project_id
    where p.org_id = $1 and p.deleted_at is null and b.deleted_at is null and r.removed_at is null
    group by b.id) as each_branch`,
  running_computes: `select count(*) from ${running}`,
  memory_bytes: `select coalesce(sum((e.size->>'memory_bytes')::bigint), 0) from ${running}`,
  members: `select (select count(*) from narthex.membership where org_id = $1) + (
    select count(*) from narthex.invitation
    where org_id = $1 and accepted_at is null and revoked_at is null and expires_at > $3::timestamptz)`,
  invitations: `select count(*) from narthex.invitation
    where org_id = $1 and accepted_at is null and revoked_at is null and expires_at > $3::timestamptz`,
  // A personal organization has the id of its user.
  organizations: "select count(*) from narthex.organization_founder where user_id = $1",
  webhooks: "select count(*) from narthex.webhook where org_id = $1",
  disk_bytes: "select coalesce(sum(bytes), 0) from narthex.branch_disk where org_id = $1"
}

const measured = `
with it as (
  select m.branch_id, m.bytes, p.org_id, b.current_state in ('init', 'resetting') as making
  from jsonb_to_recordset($1) as m(branch_id text, bytes bigint)
    join narthex.branch b on b.id = m.branch_id join narthex.project p on p.id = b.project_id
  order by m.branch_id
)
insert into narthex.branch_disk as d (branch_id, org_id, bytes, measured_at)
select branch_id, org_id, bytes, case when making then null else $2::timestamptz end from it
on conflict (branch_id) do update
set measured_at = excluded.measured_at, bytes = case
  when (select making from it where it.branch_id = excluded.branch_id) then greatest(d.bytes, excluded.bytes)
  else excluded.bytes end`

const gone = `
delete from narthex.branch_disk d
where not d.branch_id in (select m.branch_id from jsonb_to_recordset($1) as m(branch_id text))
  and not exists (select 1 from narthex.branch b where b.id = d.branch_id and (b.deleted_at is null or b.region_id <> $2))`

interface DiskRow extends Omit<BranchDisk, "size_measured_at"> {
  readonly size_measured_at: Date | null
}

/** The sum of each organization is made once, however many of its branches are asked for. */
const disks = `
with own as materialized (
  select branch_id, org_id, bytes, measured_at from narthex.branch_disk where branch_id = any($1::text[])),
each as materialized (
  select asked.org_id, ${organizationDisk("asked.org_id")} from (select distinct org_id from own) asked)
select branch_id, case when measured_at is not null then bytes end as size_bytes, measured_at as size_measured_at,
  held, terms
from own join each using (org_id)`

const make = Effect.gen(function* () {
  const { query, transaction } = yield* Database

  return QuotaStore.of({
    lock: (org, quotas) =>
      Effect.asVoid(
        query(
          "QuotaStore.lock",
          `select ${lockOf("name")}
           from unnest($1::text[]) with ordinality as it(name, n) order by n`,
          [quotas.map((quota) => `quota ${org} ${quota}`)]
        )
      ),
    terms: (org) =>
      Effect.map(
        query<{ readonly personal: boolean; readonly overrides: Partial<Amounts> }>(
          "QuotaStore.terms",
          `select personal, (
             select coalesce(jsonb_object_agg(quota, allowed), '{}') from narthex.quota_override where org_id = $1) as overrides
           from narthex.organization where id = $1`,
          [org]
        ),
        ([row]) => Option.fromUndefinedOr(row)
      ),
    held: ({ now, org_id, project_id }: Holder, quotas) =>
      quotas.length === 0
        ? Effect.succeed({})
        : Effect.map(
            query<Partial<Amounts>>(
              "QuotaStore.held",
              `select ${quotas.map((quota) => `(${counts[quota]})::bigint as ${quota}`).join(", ")}
               from (select $1::text, $2::text, $3::timestamptz) as holder`,
              [org_id, project_id, DateTime.toDateUtc(now)]
            ),
            ([row]) => row ?? {}
          ),
    setOverride: (org, quota, allowed) =>
      Effect.asVoid(
        allowed === null
          ? query("QuotaStore.setOverride", "delete from narthex.quota_override where org_id = $1 and quota = $2", [
              org,
              quota
            ])
          : query(
              "QuotaStore.setOverride",
              `insert into narthex.quota_override (org_id, quota, allowed) values ($1, $2, $3)
               on conflict (org_id, quota) do update set allowed = excluded.allowed`,
              [org, quota, allowed]
            )
      ),
    addFounder: (org, user) =>
      Effect.asVoid(
        query("QuotaStore.addFounder", "insert into narthex.organization_founder (org_id, user_id) values ($1, $2)", [
          org,
          user
        ])
      ),
    bytesOf: (branch) =>
      Effect.map(
        query<{ readonly bytes: number }>(
          "QuotaStore.bytesOf",
          "select bytes from narthex.branch_disk where branch_id = $1",
          [branch]
        ),
        ([row]) => row?.bytes ?? 0
      ),
    expectBytes: (org, branch, bytes) =>
      Effect.asVoid(
        query(
          "QuotaStore.expectBytes",
          `insert into narthex.branch_disk (branch_id, org_id, bytes) values ($1, $2, $3)
           on conflict (branch_id) do update set bytes = excluded.bytes, measured_at = null`,
          [branch, org, bytes]
        )
      ),
    disksOf: (branches) =>
      Effect.map(query<DiskRow>("QuotaStore.disksOf", disks, [branches]), (rows) =>
        rows.map(({ size_measured_at, ...disk }) => ({
          ...disk,
          size_measured_at: size_measured_at === null ? null : DateTime.fromDateUnsafe(size_measured_at)
        }))
      ),
    recordBytes: (region, usage, now) =>
      transaction(
        Effect.andThen(
          query("QuotaStore.recordBytes", measured, [json(usage), DateTime.toDateUtc(now)]),
          Effect.asVoid(query("QuotaStore.recordBytes", gone, [json(usage), region]))
        )
      )
  })
})

export const PostgresQuotaStore = {
  layer: Layer.effect(QuotaStore, make)
}
