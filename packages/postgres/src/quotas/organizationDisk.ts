/** The columns `held` and `terms` of `BranchDisk`, of the organization that the SQL expression names, as `table.column`. */
export const organizationDisk = (org: string): string => `
  (select coalesce(sum(d.bytes), 0)::bigint from narthex.branch_disk d where d.org_id = ${org}) as held,
  jsonb_build_object(
    'personal', coalesce((select o.personal from narthex.organization o where o.id = ${org}), false),
    'overrides', coalesce((
      select jsonb_build_object(q.quota, q.allowed) from narthex.quota_override q
      where q.org_id = ${org} and q.quota = 'disk_bytes'), '{}')) as terms`
