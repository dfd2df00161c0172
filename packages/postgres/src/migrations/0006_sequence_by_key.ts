/**
 * The sequencing function takes its events by key. The rest is as in 0001.
 *
 * A session plans the statements of a function once, mostly while the outbox is empty, where a sequential scan is
 * right. It keeps that plan when a backlog builds up, so each batch read the whole backlog: with half a million events
 * waiting, ten times as long as by key.
 */
export const sequenceByKey = `
create or replace function event_sequence(p_limit int) returns int language plpgsql set enable_seqscan = off as $$
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
    perform pg_notify('events', (h.pos + n)::text);                       -- the only notify in the system
  end if;
  return n;
end $$;
`
