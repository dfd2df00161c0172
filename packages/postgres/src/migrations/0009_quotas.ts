/**
 * Quotas: the operator's exceptions, who created an organization, and the disk that branches take.
 *
 * Organizations of earlier releases have no record of who created them: the owner of the longest standing counts.
 *
 * A row of `branch_disk` outlives its branch until the data is gone from the machine, so its organization is stored with
 * it.
 */
export const quotas = `
create table quota_override (
  org_id  text collate "C" not null references organization on delete cascade,
  quota   text collate "C" not null,
  allowed bigint not null,
  primary key (org_id, quota)
);

create table organization_founder (
  org_id  text collate "C" primary key references organization on delete cascade,
  user_id text collate "C" not null
);
create index on organization_founder (user_id);
insert into organization_founder (org_id, user_id)
select distinct on (m.org_id) m.org_id, m.user_id
from membership m join organization o on o.id = m.org_id
where m.role = 'owner' and not o.personal
order by m.org_id, m.joined_at, m.user_id;

create table branch_disk (
  branch_id   text collate "C" primary key,
  org_id      text collate "C" not null,
  bytes       bigint not null,
  measured_at timestamptz                         -- null: expected, not measured yet
);
create index on branch_disk (org_id);
`
