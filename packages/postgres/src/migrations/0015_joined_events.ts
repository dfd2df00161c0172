/**
 * Events of a transaction that a host has begun. They are inserted when the control plane's call ends, and the host may
 * commit much later. At its COMMIT, after its last statement, they take new places at the end of the outbox, so that the
 * order of the log stays that of docs/design/events.md E12.
 *
 * The host's connection may have another search path, so the function names the schema.
 */
export const joinedEvents = `
alter table event_outbox add column joined boolean not null default false;

create function event_joined() returns trigger language plpgsql as $$
begin
  execute format('update %I.event_outbox set seq = default where seq = $1', tg_table_schema) using new.seq;
  return null;
end $$;

create constraint trigger event_joined after insert on event_outbox deferrable initially deferred
  for each row when (new.joined) execute function event_joined();
`
