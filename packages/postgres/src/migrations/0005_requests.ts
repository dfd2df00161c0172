/**
 * First answers of idempotent calls, and rate limits.
 *
 * Attempts are numbered over all calls and never again alike, so that a late answer finds no other attempt's record.
 * Rate limits are not logged: a crash of the server forgets them, which a limit on load can bear.
 */
export const requests = `
create sequence idempotency_attempt;
create table idempotency_record (
  owner       text collate "C" not null,
  key         text collate "C" not null,
  fingerprint text not null,
  attempt     bigint not null,
  lease_until timestamptz not null,
  expires_at  timestamptz not null,
  answer      jsonb,
  primary key (owner, key)
);
create index on idempotency_record (expires_at);

create unlogged table rate_limit (
  limit_name   text collate "C" not null,
  subject      text collate "C" not null,
  "window"     bigint not null,
  taken        bigint not null,
  taken_before bigint not null,
  stale_at     timestamptz not null,
  primary key (limit_name, subject)
) with (fillfactor = 50);
create index on rate_limit (stale_at);
`
