/**
 * The rows of one region: operations and their heads, the directory of local computes, and the runners.
 *
 * Instances of an earlier version go on: a trigger places the operations that they insert, and they have `compute_home` and
 * turns by class alone, which this version neither reads nor writes. All their computes are in one directory, which becomes
 * that of the first region.
 */
export const places = `
alter table operation add column region_id text collate "C";
update operation o set region_id = p.region_id from project p where p.id = o.project_id;

create function operation_placed() returns trigger language plpgsql set search_path from current as $f$
begin
  new.region_id := (select p.region_id from project p where p.id = new.project_id);
  return new;
end $f$;

create trigger operation_placed before insert on operation for each row
when (new.region_id is null) execute function operation_placed();

alter table operation_head add column region_id text collate "C";
update operation_head h set region_id = o.region_id from operation o where o.id = h.operation_id;
drop index operation_head_due, operation_head_leased, operation_head_soonest;
create index operation_head_due on operation_head (region_id, class, org_id, lane, due_at, position);
create index operation_head_leased on operation_head (region_id, class, leased_until) where leased_until is not null;
create index operation_head_soonest on operation_head (region_id, class, due_at);

create or replace function operation_put_head(o operation) returns void language sql as $f$
  insert into operation_head
    (operation_id, branch_id, region_id, class, org_id, lane, position, due_at, leased_until)
  values (o.id, o.branch_id, o.region_id, operation_class(o.action), o.org_id, coalesce(o.copies, ''), o.position,
    operation_due_at(o.retry_at, o.lease_until), o.lease_until)
  on conflict do nothing                          -- the branch has an earlier one
$f$;

create table region_home (                        -- the data directory of a region's local computes, by its id
  region_id text collate "C" primary key,
  home      text collate "C" not null unique
);
insert into region_home (region_id, home)
select r.region_id, h.home from compute_home h cross join (select region_id from region order by position limit 1) r;

create table region_runner (                      -- the runners of a region, and when each was seen last
  runner_id text collate "C" primary key,
  region_id text collate "C" not null,
  seen_at   timestamptz not null
);
create index on region_runner (region_id);
create index on project (region_id) where deleted_at is null;
`
