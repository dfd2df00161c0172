/**
 * Messages about computes between instances with different roles: doubts whether one still runs, and which of the
 * operator's servers each branch has (`NARTHEX_COMPUTE=static`). And the clocks of the outbox:
 * `at` is the emitting instance's time, `written_at` this server's.
 *
 * Earlier versions created `static_compute` when they first used it.
 */
export const instances = `
create table compute_doubt (
  endpoint_id text collate "C" primary key,
  generation  bigint not null,
  at          timestamptz not null
);

create table if not exists static_compute (
  address   text collate "C" primary key,
  branch_id text collate "C" not null unique,
  given_at  timestamptz not null default now()
);

alter table event_outbox add column written_at timestamptz not null default clock_timestamp();
`
