/** The audit log: one row for each entry, which is never changed. */
export const audit = `
create table audit_entry (
  id          text collate "C" primary key,       -- sorts by occurred_at
  org_id      text collate "C",                   -- null: an act of the operator for all
  occurred_at timestamptz not null,
  action      text not null,
  outcome     text not null,
  actor       jsonb not null,
  targets     jsonb not null,
  context     jsonb not null,
  metadata    jsonb not null,
  version     integer not null
);
create index on audit_entry (org_id, id);         -- a page of an organization
`
