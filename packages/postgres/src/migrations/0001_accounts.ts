/**
 * Users, organizations, memberships, invitations. In all migrations columns are the members of the models.
 *
 * Ids are text in byte order, so that a malformed id is unknown instead of an error. There are no foreign keys between
 * aggregates: services lock the parent row and, when it ends, revoke the children explicitly (`revoked_reason`).
 * By indexes of ends and expiries the purge finds ended records.
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
  org_id     text collate "C" not null,
  user_id    text collate "C" not null,
  role       text not null,
  joined_at  timestamptz not null,
  invited_by jsonb,                               -- until a member whose first sign-in led here confirms the membership
  primary key (org_id, user_id)
);
create index on membership (user_id, org_id);
create index on membership (org_id, user_id) where role = 'owner';

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
create index on invitation (org_id, expires_at) where accepted_at is null and revoked_at is null;
create index on invitation (expires_at);
create index on invitation (accepted_at) where accepted_at is not null;
create index on invitation (revoked_at) where revoked_at is not null;
`
