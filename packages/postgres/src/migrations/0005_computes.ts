/**
 * Reports of proxies about the computes that they relay to, and since when reports can be received. Ages are measured by
 * the clock of this database. Doubts whether a compute still runs. Where computes are: on the operator's servers
 * (`NARTHEX_COMPUTE=static`), or below a directory of this machine.
 */
export const computes = `
create table endpoint_use (                       -- the last report of a proxy about an endpoint
  endpoint_id text collate "C" not null,
  proxy_id    text collate "C" not null,          -- '': proxies of versions that do not name themselves
  generation  bigint not null,
  sequence    bigint not null,
  connections integer not null,
  busy        integer not null,
  reported_at timestamptz not null,
  primary key (endpoint_id, proxy_id)
);
create index on endpoint_use (reported_at);

create table report_reception (                   -- one row: when instances could receive reports last, and since when
  one     boolean primary key default true,
  seen_at timestamptz not null,
  since   timestamptz not null
);

create table compute_doubt (                      -- what instances with different roles tell each other
  endpoint_id text collate "C" primary key,
  generation  bigint not null,
  at          timestamptz not null
);

create table static_compute (                     -- which of the operator's servers each branch has
  address   text collate "C" primary key,
  branch_id text collate "C" not null unique,
  given_at  timestamptz not null default now(),
  fence     bigint not null default 0             -- of the last call (ComputeFence): a lower one has lost its claim
);

create table static_compute_running (
  endpoint_id text collate "C" primary key,
  branch_id   text collate "C" not null,
  generation  bigint not null
);
create index on static_compute_running (branch_id);

create table compute_home (                       -- at most one row: the data directory of local computes, by its id
  one  boolean primary key default true check (one),
  home text not null
);
`
