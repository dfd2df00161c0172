/**
 * The reports of proxies on the computes that they relay to, and since when reports can be received. Ages are measured
 * by the clock of this database.
 */
export const activity = `
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
`
