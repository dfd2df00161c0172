/**
 * Users, organizations, sessions, keys, logins of the command line. Columns are the members of the models.
 *
 * Ids are text in byte order, so that a malformed id is unknown instead of an error. There are no foreign keys between
 * aggregates: services lock the parent row and, when it ends, revoke the children explicitly (`revoked_reason`).
 *
 * Pitfall: relying on a unique partial index for rows that expire. An index cannot depend on the time, so uniqueness
 * among unexpired rows needs a lock as well.
 */
export const accounts = `
create table user_account (
  id             text collate "C" primary key,
  issuer         text collate "C" not null,
  subject        text collate "C" not null,
  email          text,
  email_verified boolean not null,
  name           text,
  created_at     timestamptz not null,
  enabled_at     timestamptz,
  disabled_at    timestamptz,
  constraint user_account_identity unique (issuer, subject)
);

create table organization (
  id         text collate "C" primary key,
  name       text not null,
  personal   boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table membership (
  org_id    text collate "C" not null,
  user_id   text collate "C" not null,
  role      text not null,
  joined_at timestamptz not null,
  primary key (org_id, user_id)
);
create index on membership (user_id);

create table invitation (
  id          text collate "C" primary key,
  org_id      text collate "C" not null,
  email       text collate "C" not null,
  role        text not null,
  invited_by  jsonb not null,
  created_at  timestamptz not null,
  expires_at  timestamptz not null,
  accepted_at timestamptz,
  revoked_at  timestamptz
);
create index on invitation (org_id, id desc);
create index on invitation (email, id desc) where accepted_at is null and revoked_at is null;

create table session (
  id              text collate "C" primary key,
  user_id         text collate "C" not null,
  active_org_id   text collate "C" not null,
  generation      bigint not null,
  refreshed_at    timestamptz not null,
  signed_in_at    timestamptz not null,
  revoked_at      timestamptz,
  revoked_reason  text,
  provider        text not null,
  user_agent      text,
  address         text,
  id_token_digest text not null
);
create index on session (user_id, id desc) where revoked_at is null;
create index on session (signed_in_at);

create table spent_id_token (
  digest     text collate "C" primary key,
  expires_at timestamptz not null
);
create index on spent_id_token (expires_at);

create table signing_key (
  kid             text collate "C" primary key,
  public_jwk      text not null,
  wrapped_private text not null,
  created_at      timestamptz not null,
  active_from     timestamptz not null,
  retired_until   timestamptz
);

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
create index on api_key (org_id, created_at desc, id desc) where revoked_at is null;
create index on api_key (org_id, creator_id, created_at desc, id desc) where revoked_at is null;
create index on api_key (scope_project) where revoked_at is null and scope_project is not null;
create index on api_key (scope_branch) where revoked_at is null and scope_branch is not null;

create table api_key_secret (                     -- what authentication looks up
  digest    text collate "C" primary key,
  key_id    text collate "C" not null references api_key on delete cascade,
  position  integer not null,
  pepper_id text not null,
  dies_at   timestamptz
);
create index on api_key_secret (key_id);

create table cli_grant (
  code_digest     text collate "C" primary key,
  state_digest    text collate "C" not null unique,
  code_challenge  text not null,
  redirect_uri    text not null,
  user_id         text collate "C" not null,
  org_id          text collate "C" not null,
  session_id      text collate "C" not null,
  name            text not null,
  capability      text not null,
  scope           jsonb not null,
  expires_in_days integer,
  created_at      timestamptz not null,
  expires_at      timestamptz not null,
  consumed_at     timestamptz,
  wrong_verifiers integer not null
);
create index on cli_grant (expires_at);
`
