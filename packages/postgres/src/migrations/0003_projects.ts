/**
 * Regions, projects with their branches, endpoints and roles, operations, allowlists. Columns are the members of the
 * models.
 *
 * Deleted projects, branches and endpoints keep their rows (`deleted_at`), so unique means: among those not deleted. An
 * operation's `position` is its place in the order of creation. Inserts on one branch are serialized, so it is the
 * order of commits too.
 */
export const projects = `
create table region (
  region_id text collate "C" primary key,
  name      text not null,
  "default" boolean not null,
  geo_lat   double precision not null,
  geo_long  double precision not null,
  location  text,
  active    boolean not null,
  position  integer not null                      -- order of addition
);
create unique index region_one_default on region ("default") where "default";

create table project (
  id                text collate "C" primary key,
  org_id            text collate "C" not null,
  name              text not null,
  region_id         text not null,
  default_branch_id text collate "C" not null,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  deleted_at        timestamptz
);
create index on project (org_id, id desc) where deleted_at is null;

create table branch (
  id            text collate "C" primary key,
  project_id    text collate "C" not null,
  region_id     text not null,
  parent_id     text collate "C",
  name          text collate "C" not null,
  current_state text not null,
  pending_state text,
  "default"     boolean not null,
  protected     boolean not null,
  made_by_agent boolean not null,
  expires_at    timestamptz,
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  created_by    jsonb,
  deleted_at    timestamptz
);
create unique index branch_name on branch (project_id, name) where deleted_at is null;
create index on branch (project_id, id desc) where deleted_at is null;
create index on branch (parent_id) where deleted_at is null and parent_id is not null;
create index on branch (expires_at) where deleted_at is null and expires_at is not null;

create table endpoint (
  id                      text collate "C" primary key,
  project_id              text collate "C" not null,
  branch_id               text collate "C" not null,
  region_id               text not null,
  type                    text not null,
  current_state           text not null,
  pending_state           text,
  disabled                boolean not null,
  suspend_timeout_seconds integer not null,
  last_active_at          timestamptz,
  started_at              timestamptz,
  suspended_at            timestamptz,
  created_at              timestamptz not null,
  updated_at              timestamptz not null,
  generation              bigint not null,
  address                 text,
  connections             integer not null,
  deleted_at              timestamptz
);
create unique index endpoint_read_write on endpoint (branch_id) where deleted_at is null and type = 'read_write';
create index on endpoint (branch_id, id desc) where deleted_at is null;
create index on endpoint (project_id, id desc) where deleted_at is null;
create index on endpoint (id) where deleted_at is null and current_state = 'active';

create table branch_role (
  branch_id       text collate "C" not null,
  role            text collate "C" not null,
  project_id      text collate "C" not null,
  access          text not null,
  verifier        text not null,
  minted_by_agent boolean not null,
  created_at      timestamptz not null,
  expires_at      timestamptz,
  revoked_at      timestamptz,
  primary key (branch_id, role)
);

create table operation (
  id             text collate "C" primary key,
  position       bigint generated always as identity,
  org_id         text collate "C" not null,
  project_id     text collate "C" not null,
  branch_id      text collate "C",
  endpoint_id    text collate "C",
  action         text not null,
  status         text not null,
  error          text,
  failures_count integer not null,
  retry_at       timestamptz,
  initiator      jsonb not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  started_at     timestamptz,
  finished_at    timestamptz,
  lease_owner    text,
  lease_until    timestamptz
);
create index on operation (project_id, id desc);
create index on operation (branch_id, id desc);
create index on operation (position) where status in ('scheduling', 'running', 'cancelling');
create index on operation (branch_id, position) where status in ('scheduling', 'running', 'cancelling');

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
`
