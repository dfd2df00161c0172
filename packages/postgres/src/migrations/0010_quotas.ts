/**
 * Quotas: the operator's exceptions, who created an organization, and the disk that branches take.
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

create table branch_disk (
  branch_id   text collate "C" primary key,
  org_id      text collate "C" not null,
  bytes       bigint not null,
  measured_at timestamptz                         -- null: expected, not measured yet
);
create index on branch_disk (org_id);
`
