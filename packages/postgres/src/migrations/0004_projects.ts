/**
 * Projects with their branches, endpoints and roles.
 *
 * Deleted projects, branches and endpoints keep their rows (`deleted_at`), so unique means: among those not deleted.
 * Indexes that include deleted rows are for the purge: it finds what ended, and whether anything still refers to it.
 *
 * An endpoint's `ran_since` and `used_at`, when its compute was started and last used, are by this database's clock
 * (docs/design/proxy.md P33). Its other instants are by the clock of the instance that wrote them, which may be wrong.
 */
export const projects = `
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
create index on project (deleted_at) where deleted_at is not null;

create table branch (
  id             text collate "C" primary key,
  project_id     text collate "C" not null,
  region_id      text not null,
  parent_id      text collate "C",
  name           text collate "C" not null,
  current_state  text not null,
  pending_state  text,
  "default"      boolean not null,
  protected      boolean not null,
  made_by_agent  boolean not null,
  expires_at     timestamptz,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  created_by     jsonb,
  deleted_at     timestamptz,
  made_by_key_id text collate "C"
);
create unique index branch_name on branch (project_id, name) where deleted_at is null;
create index on branch (project_id, id desc) where deleted_at is null;
create index on branch (parent_id) where deleted_at is null and parent_id is not null;
create index on branch (expires_at) where deleted_at is null and expires_at is not null;
create index on branch (deleted_at) where deleted_at is not null;
create index on branch (project_id);
create index on branch (parent_id) where parent_id is not null;

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
  deleted_at              timestamptz,
  ran_since               timestamptz,
  used_at                 timestamptz,
  reach                   jsonb                   -- how a running compute is reached, in addition to its address
);
create unique index endpoint_read_write on endpoint (branch_id) where deleted_at is null and type = 'read_write';
create index on endpoint (branch_id, id desc) where deleted_at is null;
create index on endpoint (project_id, id desc) where deleted_at is null;
create index on endpoint (id) where deleted_at is null and current_state = 'active';
create index on endpoint (deleted_at) where deleted_at is not null;
create index on endpoint (branch_id);

create function endpoint_dated() returns trigger language plpgsql as $f$
begin
  if new.started_at is null then
    new.ran_since := null;
  elsif new.started_at is distinct from old.started_at then
    new.ran_since := clock_timestamp();
    new.used_at := clock_timestamp();
  end if;
  if new.started_at is not distinct from old.started_at then
    new.used_at := greatest(new.used_at, least(new.last_active_at, clock_timestamp()));
  end if;
  return new;
end $f$;

create trigger endpoint_dated before update of started_at, last_active_at on endpoint for each row
when (old.started_at is distinct from new.started_at or old.last_active_at is distinct from new.last_active_at)
execute function endpoint_dated();

create table branch_role (                        -- its columns say who minted it, and how far its end has come
  branch_id       text collate "C" not null,
  role            text collate "C" not null,
  project_id      text collate "C" not null,
  access          text not null,
  verifier        text not null,
  minted_by_agent boolean not null,
  created_at      timestamptz not null,
  expires_at      timestamptz,
  revoked_at      timestamptz,
  org_id          text collate "C",
  minted_by       jsonb,
  api_key_id      text collate "C",
  api_key_name    text,
  applied_at      timestamptz,
  removed_at      timestamptz,
  minter_id       text collate "C" generated always as (minted_by->>'id') stored,
  primary key (branch_id, role)
);
create index on branch_role (revoked_at) where revoked_at is not null;
create index on branch_role (expires_at) where expires_at is not null;
create index on branch_role (branch_id, created_at desc, role desc) where removed_at is null;
create index on branch_role (minter_id, org_id) where revoked_at is null and minter_id is not null;
create index on branch_role (api_key_id) where revoked_at is null and api_key_id is not null;
create index on branch_role (project_id) where revoked_at is null;
create index on branch_role (branch_id) where removed_at is null and revoked_at is not null;
create index on branch_role (expires_at) where removed_at is null and expires_at is not null;
`
