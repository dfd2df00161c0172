/**
 * Claims with fences, classes and fairness, whose cost does not grow with a backlog.
 *
 * `operation_head` has one row for each branch with unfinished operations, the first of them, and one for each
 * unfinished operation without a branch: what can be claimed. Triggers keep it, so that releases without it do so too.
 * Inserts and ends of operations of one branch are serialized by an advisory lock, which is taken after all row locks.
 * `operation_turn` has the latest claim of each organization (`project_id` is empty) and project.
 *
 * Pitfall: a flag on the operation instead. The end of one operation would wait for a transaction that has locked the
 * next, and that one, if it ends the next, for this one.
 */
export const operationClaims = `
alter table operation
  add column copies     text collate "C",
  add column fence      bigint not null default 0,
  add column busy_since timestamptz;
create index on operation (finished_at) where finished_at is not null;

create sequence operation_fence;

create table operation_turn (
  class      text collate "C" not null,
  org_id     text collate "C" not null,
  project_id text collate "C" not null,
  served     bigint not null,                     -- the fence of the claim
  primary key (class, org_id, project_id)
);

create table operation_head (
  operation_id text collate "C" primary key,
  branch_id    text collate "C" unique,           -- null: it waits for no other operation
  class        text collate "C" not null,
  org_id       text collate "C" not null,
  project_id   text collate "C" not null,
  lane         text collate "C" not null,         -- the branch that it copies, or empty
  position     bigint not null,
  due_at       timestamptz not null,              -- 1970: at once
  leased_until timestamptz
);
create index operation_head_due on operation_head (class, org_id, project_id, lane, due_at, position);
create index operation_head_leased on operation_head (class, leased_until) where leased_until is not null;

create function operation_class(action text) returns text language sql immutable as $f$
  select case
    when action in ('create_compute', 'start_compute', 'suspend_compute', 'delete_compute') then 'computes'
    when action = 'apply_config' then 'roles'
    else 'branches' end
$f$;

create function operation_is_open(status text) returns boolean language sql immutable as $f$
  select status in ('scheduling', 'running', 'cancelling')
$f$;

create function operation_due_at(retry_at timestamptz, lease_until timestamptz) returns timestamptz
language sql immutable as $f$
  select coalesce(greatest(retry_at, lease_until), to_timestamp(0))
$f$;

create function operation_put_head(o operation) returns void language sql as $f$
  insert into operation_head (operation_id, branch_id, class, org_id, project_id, lane, position, due_at, leased_until)
  values (o.id, o.branch_id, operation_class(o.action), o.org_id, o.project_id, coalesce(o.copies, ''), o.position,
    operation_due_at(o.retry_at, o.lease_until), o.lease_until)
  on conflict do nothing                          -- the branch has an earlier one
$f$;

/* After an insert, an update or a delete. */
create function operation_changed() returns trigger language plpgsql as $f$
declare
  was_open boolean := tg_op <> 'INSERT' and operation_is_open(old.status);
  is_open boolean := tg_op <> 'DELETE' and operation_is_open(new.status);
  v_branch text := case when tg_op = 'DELETE' then old.branch_id else new.branch_id end;
  v_next operation;
begin
  if was_open and is_open then
    if new.retry_at is distinct from old.retry_at or new.lease_until is distinct from old.lease_until then
      update operation_head
      set due_at = operation_due_at(new.retry_at, new.lease_until), leased_until = new.lease_until
      where operation_id = new.id;
    end if;
    return null;
  end if;
  if not was_open and not is_open then return null; end if;
  if v_branch is not null then
    perform pg_advisory_xact_lock(hashtextextended('operation ' || v_branch, 0));
  end if;
  if is_open then
    perform operation_put_head(new);
    return null;
  end if;
  delete from operation_head where operation_id = old.id;
  if v_branch is not null then
    select * into v_next from operation
    where branch_id = v_branch and status in ('scheduling', 'running', 'cancelling') order by position limit 1;
    if found then perform operation_put_head(v_next); end if;
  end if;
  return null;
end $f$;

create trigger operation_changed after insert or update or delete on operation
for each row execute function operation_changed();

do $f$
declare
  o operation;
begin
  for o in
    select * from operation where status in ('scheduling', 'running', 'cancelling') order by position
  loop
    perform operation_put_head(o);
  end loop;
end $f$;

/* The first due operation of each lane of an organization, those of the project whose turn it is first. */
create function operation_candidates(p_class text, p_org text, p_now timestamptz, p_per_parent int, p_but text[])
returns table (id text, project text) language sql stable set enable_seqscan = off as $f$
  with recursive lane as (
    (select h.project_id, h.lane from operation_head h where h.class = p_class and h.org_id = p_org
     order by h.project_id, h.lane limit 1)
    union all
    select n.project_id, n.lane from lane cross join lateral (
      select h.project_id, h.lane from operation_head h
      where h.class = p_class and h.org_id = p_org and (h.project_id, h.lane) > (lane.project_id, lane.lane)
      order by h.project_id, h.lane limit 1) n
  ), claimed as (
    select h.project_id, h.lane from operation_head h
    where h.class = p_class and h.leased_until > p_now and h.org_id = p_org
  )
  select c.operation_id, lane.project_id
  from lane
  cross join lateral (
    select f.operation_id, f.position from (
      (select h.operation_id, h.position from operation_head h
       where h.class = p_class and h.org_id = p_org and h.project_id = lane.project_id and h.lane = lane.lane
         and h.due_at = to_timestamp(0) and h.operation_id <> all (p_but)
       order by h.position limit 1)
      union all
      (select h.operation_id, h.position from operation_head h
       where h.class = p_class and h.org_id = p_org and h.project_id = lane.project_id and h.lane = lane.lane
         and h.due_at > to_timestamp(0) and h.due_at <= p_now and h.operation_id <> all (p_but)
       order by h.due_at, h.position limit 1)
    ) f order by f.position limit 1
  ) c
  left join operation_turn t on t.class = p_class and t.org_id = p_org and t.project_id = lane.project_id
  where lane.lane = '' or (
    (select count(*) from claimed where claimed.lane = lane.lane) < p_per_parent
    and not exists (
      select 1 from operation w
      where w.branch_id = lane.lane and w.status in ('scheduling', 'running', 'cancelling')
        and w.action in ('create_timeline', 'create_branch', 'reset_branch')))
  order by (select count(*) from claimed where claimed.project_id = lane.project_id), coalesce(t.served, 0),
    lane.project_id, c.position
$f$;

create function operation_claim(
  p_class text, p_worker text, p_now timestamptz, p_until timestamptz, p_per_org int, p_per_parent int
) returns setof operation language plpgsql set enable_seqscan = off as $f$
declare
  v_org text;
  v_id text;
  v_project text;
  v_fence bigint;
  v_locked text[] := '{}';
begin
  perform pg_advisory_xact_lock(hashtextextended('operation_claim ' || p_class, 0));
  for v_org in
    with recursive org (id) as (
      (select h.org_id from operation_head h where h.class = p_class order by h.org_id limit 1)
      union all
      select n.org_id from org cross join lateral (
        select h.org_id from operation_head h where h.class = p_class and h.org_id > org.id
        order by h.org_id limit 1) n
    ), claimed as (
      select h.org_id, count(*) as n from operation_head h where h.class = p_class and h.leased_until > p_now
      group by h.org_id
    )
    select org.id from org
    left join claimed on claimed.org_id = org.id
    left join operation_turn t on t.class = p_class and t.org_id = org.id and t.project_id = ''
    where coalesce(claimed.n, 0) < p_per_org
    order by coalesce(claimed.n, 0), coalesce(t.served, 0), org.id
  loop
    loop
      select c.id, c.project into v_id, v_project
      from operation_candidates(p_class, v_org, p_now, p_per_parent, v_locked) c limit 1;
      exit when not found;
      perform 1 from operation o
      where o.id = v_id and o.status in ('scheduling', 'running', 'cancelling')
        and (o.lease_until is null or o.lease_until <= p_now) and (o.retry_at is null or o.retry_at <= p_now)
      for update skip locked;
      if found then
        v_fence := nextval('operation_fence');
        insert into operation_turn values (p_class, v_org, '', v_fence), (p_class, v_org, v_project, v_fence)
        on conflict (class, org_id, project_id) do update set served = excluded.served;
        return query update operation set lease_owner = p_worker, lease_until = p_until, fence = v_fence
          where operation.id = v_id returning *;
        return;
      end if;
      v_locked := v_locked || v_id;               -- a transaction is changing it
    end loop;
  end loop;
end $f$;
`
