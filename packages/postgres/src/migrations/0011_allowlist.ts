/**
 * Allowlists, and the clients that they refused, as proxies report them: a bounded number of rows for each project, and
 * of each proxy the number of its last report.
 */
export const allowlist = `
create table ip_allowlist (                       -- one row a project that ever had rules; locked by every change
  project_id text collate "C" primary key,
  version    bigint not null
);

create table ip_rule (
  project_id text collate "C" not null,
  cidr       text collate "C" not null,
  label      text not null,
  created_at timestamptz not null,
  created_by jsonb not null,
  expires_at timestamptz,
  position   bigint generated always as identity, -- oldest first
  primary key (project_id, cidr)
);

create table client_refusal (                     -- one row for each endpoint and client address
  endpoint_id text collate "C" not null,
  address     text collate "C" not null,
  project_id  text collate "C" not null,
  branch_id   text collate "C" not null,
  role        text collate "C",
  reason      text not null,
  count       bigint not null,
  first_at    timestamptz not null,
  last_at     timestamptz not null,
  position    text collate "C" not null,          -- sorts as last_at does, and no two rows of a project have the same
  primary key (endpoint_id, address)
);
create index on client_refusal (project_id, position);
create index on client_refusal (last_at);

create table refusal_report (                     -- the last report of each proxy that was recorded
  proxy_id    text collate "C" primary key,
  sequence    bigint not null,
  reported_at timestamptz not null
);
create index on refusal_report (reported_at);
`
