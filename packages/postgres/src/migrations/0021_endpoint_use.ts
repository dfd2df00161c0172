/**
 * When a compute was started and last used, by this database's clock (docs/design/proxy.md P33). The instants of an endpoint
 * itself are by the clock of the instance that wrote them, which may be wrong.
 *
 * The trigger also dates what an instance of an earlier release writes, which may run beside this one.
 */
export const endpointUse = `
alter table endpoint add column ran_since timestamptz, add column used_at timestamptz;

update endpoint set ran_since = least(started_at, clock_timestamp()), used_at = least(last_active_at, clock_timestamp())
where deleted_at is null;

create function endpoint_dated() returns trigger language plpgsql as $f$
begin
  if new.started_at is null then
    new.ran_since := null;
  elsif new.started_at is distinct from old.started_at then
    new.ran_since := clock_timestamp();
    new.used_at := clock_timestamp();
  end if;
  if new.started_at is not distinct from old.started_at then
    new.used_at := greatest(new.used_at, least(new.last_active_at, clock_timestamp()));
  end if;
  return new;
end $f$;

create trigger endpoint_dated before update of started_at, last_active_at on endpoint for each row
when (old.started_at is distinct from new.started_at or old.last_active_at is distinct from new.last_active_at)
execute function endpoint_dated();
`
