/**
 * The event log: outbox, sequencing function, log (docs/design/events.md E12 to E17, with the designs that were
 * measured and not chosen). In short: readers never follow a cursor over uncommitted rows, and the row of the head,
 * locked inside the one statement that sequences, makes ids and positions rise without gaps.
 *
 * The function takes its events by key, without sequential scans: a session plans the statements of a function once, mostly
 * while the outbox is empty. A scan is right there, but reads the whole backlog for each batch when one builds up.
 *
 * Retention keeps the newest events of every organization, however old, so one organization may be trimmed to a later
 * id than another has ever reached: each has a floor. `event_head.trimmed_to` is for changes of the timeline, which
 * apply to all.
 *
 * Events of a transaction that a host has begun (`joined`) are inserted when the control plane's call ends, and the host
 * may commit much later. At its COMMIT, after its last statement, they take new places at the end of the outbox, so that
 * the order of the log stays that of E12.
 *
 * Pitfall: calling `event_sequence` inside a longer transaction. It holds the row of the head until the commit, and no
 * other instance can sequence before that.
 */
export const events = `
create table event_outbox (                       -- written by business transactions, drained to empty
  seq        bigint generated always as identity primary key,   -- cache 1 (default): monotone in real time
  org_id     uuid not null,
  project_id text collate "C",
  type       text not null,
  source     text not null,
  region_id  text not null,
  at         timestamptz not null,                -- set by the app clock at emit
  internal   boolean not null default false,      -- revocations etc.: sequenced, never sent to clients
  data       jsonb not null,
  written_at timestamptz not null default clock_timestamp(),    -- the clock by which the age of the outbox is measured
  joined     boolean not null default false
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

create function event_joined() returns trigger language plpgsql set search_path from current as $$
begin
  update event_outbox set seq = default where seq = new.seq;
  return null;
end $$;

create constraint trigger event_joined after insert on event_outbox deferrable initially deferred
  for each row when (new.joined) execute function event_joined();

create table event_head (                         -- one row: serialises sequencing, remembers the last id
  one        boolean primary key default true check (one),
  pos        bigint not null,
  ms         bigint not null,
  r40        bigint not null,
  c32        bigint not null,
  trimmed_to uuid,                                -- highest id that a change of the timeline has made uncertain
  timeline   text                                 -- changes on promotion and restore: older client ids must gap once
) with (fillfactor = 10);
insert into event_head values (true, 0, 0, 0, 0, null, null);

create table event_floor (
  org_id     uuid primary key,
  trimmed_to uuid not null                        -- highest id that retention removed
);

create table event_log (                          -- what every instance tails; dense, commit-ordered
  pos        bigint primary key,
  id         uuid not null,                       -- 16 raw ULID bytes; byte order = ULID order
  org_id     uuid not null,
  project_id text collate "C",
  type       text not null,
  source     text not null,
  region_id  text not null,
  at         timestamptz not null,
  internal   boolean not null,
  data       jsonb not null
);
create unique index on event_log (org_id, id);
create index on event_log (org_id, project_id, id) where project_id is not null;

-- ULID layout: 48 bit ms | 40 bit random (fresh per ms) | 32 bit counter | 8 bit 00 (reserved for broker frames)
create function event_id(ms bigint, r40 bigint, c32 bigint) returns uuid language sql immutable as $$
  select (lpad(to_hex(ms), 12, '0') || lpad(to_hex(r40), 10, '0') || lpad(to_hex(c32), 8, '0') || '00')::uuid
$$;

create function event_sequence(p_limit int) returns int language plpgsql
set enable_seqscan = off set search_path from current as $$
declare
  h event_head;
  v_ms bigint;
  v_r bigint;
  v_c bigint;
  v_timeline text;
  v_trimmed uuid;
  n int;
begin
  if not exists (select 1 from event_outbox) then return 0; end if;       -- idle poll writes nothing
  select * into h from event_head where one for update skip locked;       -- exclusion; vanishes with the backend
  if not found then return -1; end if;                                    -- somebody else is on it
  v_ms := (extract(epoch from clock_timestamp()) * 1000)::bigint;         -- one clock for all instances
  v_timeline := substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
  v_trimmed := h.trimmed_to;
  if v_timeline <> h.timeline then
    -- This server may lack events that the former one has sent. Their ids may share our last millisecond, so start
    -- a later one, and let every id from before it gap.
    v_ms := greatest(v_ms, h.ms + 1);
  end if;
  if v_ms > h.ms then
    v_r := (random() * 1099511627775)::bigint;
    v_c := 0;
  else                                                                    -- clock stood still or went back
    v_ms := h.ms;
    v_r := h.r40;
    v_c := h.c32;
  end if;
  if v_timeline <> h.timeline then v_trimmed := event_id(v_ms, v_r, v_c); end if;
  with taken as (
    delete from event_outbox where seq = any (array(select seq from event_outbox order by seq limit p_limit))
    returning *                                                           -- delete returning: safe under stale snapshots
  ), num as (
    select t.*, row_number() over (order by seq) rn from taken t
  ), ins as (
    insert into event_log (pos, id, org_id, project_id, type, source, region_id, at, internal, data)
    select h.pos + rn, event_id(v_ms, v_r, v_c + rn), org_id, project_id, type, source, region_id, at, internal, data
    from num order by rn returning 1
  )
  select count(*) into n from ins;
  if n > 0 then
    update event_head
    set pos = h.pos + n, ms = v_ms, r40 = v_r, c32 = v_c + n, trimmed_to = v_trimmed, timeline = v_timeline
    where one;
    perform pg_notify(current_schema(), (h.pos + n)::text);               -- the only notify in the system
  end if;
  return n;
end $$;
`
