/** API keys and the digests of their secrets. */
export const keys = `
create table api_key (
  id              text collate "C" primary key,
  org_id          text collate "C" not null,
  name            text not null,
  hint            text not null,
  capability      text not null,
  scope           jsonb not null,
  created_at      timestamptz not null,
  created_by      jsonb not null,
  expires_at      timestamptz,
  last_used_at    timestamptz,
  last_used_from  text,
  revoked_at      timestamptz,
  revoked_reason  text,
  creator_id      text collate "C" not null generated always as (created_by->>'id') stored,
  scope_project   text collate "C" generated always as (scope->>'project_id') stored,
  scope_branch    text collate "C" generated always as (scope->>'branch_id') stored
);
create index on api_key (org_id, id desc) where revoked_at is null;
create index on api_key (org_id, creator_id, id desc) where revoked_at is null;
create index on api_key (scope_project) where revoked_at is null and scope_project is not null;
create index on api_key (scope_branch) where revoked_at is null and scope_branch is not null;
create index on api_key (revoked_at) where revoked_at is not null;
create index on api_key (expires_at) where expires_at is not null;
-- For the purge: whether a key still refers to a project or branch, revoked or not.
create index on api_key (scope_project) where scope_project is not null;
create index on api_key (scope_branch) where scope_branch is not null;

create table api_key_secret (                     -- what authentication looks up
  digest    text collate "C" primary key,
  key_id    text collate "C" not null references api_key on delete cascade,
  position  integer not null,
  pepper_id text not null,
  dies_at   timestamptz
);
create index on api_key_secret (key_id);
`
