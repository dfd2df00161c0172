/**
 * The first answers of idempotent calls, and the counters of rate limits.
 *
 * Attempts of all calls draw from one sequence, so a late answer never matches the record of another attempt.
 * The counters are in an unlogged table: a crash of the server resets them, which is acceptable for limits on load.
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
