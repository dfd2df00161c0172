/** What organizations hold of their quotas, counted from the rows of the other stores. */
import { type Amounts, BranchId, OrgId, type QuotaName, QuotaStore } from "@narthex/core"
import { DateTime, Effect, Layer, Option } from "effect"
import { Sqlite } from "../Sqlite.ts"
import { open } from "./operations.ts"

/** Projects that are not deleted, of organization `?1`. */
const own = "select id from project where doc ->> '$.project.org_id' = ?1 and doc ->> 'deleted_at' is null"
const branches = `branch where doc ->> '$.branch.project_id' in (${own}) and doc ->> 'deleted_at' is null`
const endpoints = `endpoint where doc ->> '$.endpoint.project_id' in (${own}) and doc ->> 'deleted_at' is null`
const pending = `invitation where doc ->> 'org_id' = ?1 and doc ->> 'accepted_at' is null
  and doc ->> 'revoked_at' is null and doc ->> 'expires_at' > ?3`
const starts = `id in (select doc ->> 'endpoint_id' from operation where doc ->> 'action' = 'start_compute' and ${open})`

/** `?1` the organization, `?2` a project or null, `?3` the time. */
const counts: Record<QuotaName, string> = {
  projects: `select count(*) from (${own})`,
  branches: `select count(*) from ${branches}`,
  branches_per_project: `select ifnull(max(n), 0) from (
    select count(*) as n from ${branches} and (?2 is null or doc ->> '$.branch.project_id' = ?2)
    group by doc ->> '$.branch.project_id')`,
  sandboxes: `select count(*) from ${branches} and doc ->> '$.branch.expires_at' is not null`,
  endpoints: `select count(*) from ${endpoints}`,
  credentials_per_branch: `select ifnull(max(n), 0) from (
    select count(*) as n from branch_role where doc ->> 'removed_at' is null
      and doc ->> 'branch_id' in (select id from ${branches}) group by doc ->> 'branch_id')`,
  running_computes: `select count(*) from ${endpoints} and (doc ->> '$.endpoint.current_state' = 'active'
    or doc ->> '$.endpoint.pending_state' = 'active' or ${starts})`,
  members: `select (select count(*) from membership where doc ->> 'org_id' = ?1) + (select count(*) from ${pending})`,
  invitations: `select count(*) from ${pending}`,
  // A personal organization has the id of its user.
  organizations: `select count(*) from organization_founder where user_id = ?1
    and org_id in (select id from organization)`,
  disk_bytes: "select ifnull(sum(bytes), 0) from branch_disk where org_id = ?1"
}

const disks = `select branch_id, org_id, bytes, measured_at,
    (select sum(a.bytes) from branch_disk a where a.org_id = d.org_id) as held
  from branch_disk d where branch_id in (select value from json_each(?1))`

const quotas = Effect.gen(function* () {
  const { query, run, transaction } = yield* Sqlite
  const terms = Effect.fnUntraced(function* (org: OrgId) {
    const [found] = yield* query("select doc ->> 'personal' as personal from organization where id = ?1", org)
    if (found === undefined) return Option.none()
    const rows = yield* query("select quota, allowed from quota_override where org_id = ?1", org)
    const overrides: Partial<Amounts> = Object.fromEntries(rows.map((row) => [row["quota"], Number(row["allowed"])]))
    return Option.some({ personal: found["personal"] === 1, overrides })
  })
  return QuotaStore.of({
    lock: () => Effect.void, // a transaction locks the whole database
    terms: (org) => transaction(terms(org)),
    held: ({ now, org_id, project_id }, quotas) =>
      transaction(
        Effect.map(
          Effect.forEach(quotas, (quota) =>
            Effect.map(
              query(
                `select (${counts[quota]}) as held from (select ?1, ?2, ?3)`,
                ...[org_id, project_id, DateTime.formatIso(now)]
              ),
              ([row]) => [quota, Number(row?.["held"])] as const
            )
          ),
          (entries): Partial<Amounts> => Object.fromEntries(entries)
        )
      ),
    setOverride: (org, quota, allowed) =>
      Effect.asVoid(
        allowed === null
          ? run("delete from quota_override where org_id = ?1 and quota = ?2", org, quota)
          : run("insert or replace into quota_override values (?1, ?2, ?3)", org, quota, allowed)
      ),
    addFounder: (org, user) => Effect.asVoid(run("insert into organization_founder values (?1, ?2)", org, user)),
    bytesOf: (branch) =>
      Effect.map(query("select bytes from branch_disk where branch_id = ?1", branch), ([row]) =>
        Number(row?.["bytes"] ?? 0)
      ),
    expectBytes: (org, branch, bytes) =>
      Effect.asVoid(run("insert or replace into branch_disk values (?1, ?2, ?3, null)", branch, org, bytes)),
    disksOf: (branches) =>
      transaction(
        Effect.gen(function* () {
          const rows = yield* query(disks, JSON.stringify(branches))
          return yield* Effect.forEach(rows, (row) =>
            Effect.map(terms(OrgId.make(String(row["org_id"]))), (found) => ({
              branch_id: BranchId.make(String(row["branch_id"])),
              size_bytes: row["measured_at"] === null ? null : Number(row["bytes"]),
              size_measured_at: row["measured_at"] === null ? null : DateTime.makeUnsafe(String(row["measured_at"])),
              held: Number(row["held"]),
              terms: Option.getOrElse(found, () => ({ personal: false, overrides: {} }))
            }))
          )
        })
      ),
    recordBytes: (measured, now) =>
      transaction(
        Effect.gen(function* () {
          const measurement = JSON.stringify(measured)
          yield* run(
            `insert into branch_disk (branch_id, org_id, bytes, measured_at)
             select b.id, p.doc ->> '$.project.org_id', m.value ->> 'bytes',
               iif(b.doc ->> '$.branch.current_state' in ('init', 'resetting'), null, ?2)
             from json_each(?1) m join branch b on b.id = m.value ->> 'branch_id'
               join project p on p.id = b.doc ->> '$.branch.project_id'
             where true on conflict do update set measured_at = excluded.measured_at, bytes = iif(
               excluded.branch_id in (
                 select id from branch where doc ->> '$.branch.current_state' in ('init', 'resetting')),
               max(bytes, excluded.bytes), excluded.bytes)`,
            measurement,
            DateTime.formatIso(now)
          )
          yield* run(
            `delete from branch_disk where branch_id not in (select value ->> 'branch_id' from json_each(?1))
               and branch_id not in (select id from branch where doc ->> 'deleted_at' is null)`,
            measurement
          )
        })
      )
  })
})

export const layerQuotas = Layer.effect(QuotaStore, quotas)
