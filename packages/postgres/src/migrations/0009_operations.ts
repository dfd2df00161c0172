/**
 * Operations, and what can be claimed of them, so that the cost of a claim does not grow with a backlog.
 *
 * An operation's `position` is its place in the order of creation. Inserts on one branch are serialized, so it is the
 * order of commits too.
 *
 * `operation_head` has one row for each branch with unfinished operations, the first of them, and one for each
 * unfinished operation without a branch: what can be claimed. A trigger keeps it. Inserts and ends of operations of one
 * branch are serialized by an advisory lock, which is taken after all row locks. The claim is a statement of
 * `PostgresOperationStore`; `operation_turn` has the latest claim of each organization.
 *
 * Pitfall: a flag on the operation instead. The end of one operation would wait for a transaction that has locked the
 * next, and that one, if it ends the next, for this one.
 */
export const operations = `
create table operation (
  id             text collate "C" primary key,
  position       bigint generated always as identity,
  org_id         text collate "C" not null,
  project_id     text collate "C" not null,
  branch_id      text collate "C",
  endpoint_id    text collate "C",
  action         text not null,
  status         text not null,
  error          text,
  failures_count integer not null,
  retry_at       timestamptz,
  initiator      jsonb not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  started_at     timestamptz,
  finished_at    timestamptz,
  lease_owner    text,
  lease_until    timestamptz,
  copies         text collate "C",
  fence          bigint not null default 0,
  busy_since     timestamptz
);
create index on operation (project_id, id desc);
create index on operation (branch_id, id desc);
create index on operation (position) where status in ('scheduling', 'running', 'cancelling');
create index on operation (branch_id, position) where status in ('scheduling', 'running', 'cancelling');
create index on operation (finished_at) where finished_at is not null;
create index on operation (project_id, copies) where copies is not null;

create sequence operation_fence;

create table operation_turn (
  class  text collate "C" not null,
  org_id text collate "C" not null,
  served bigint not null,                         -- the fence of the claim
  primary key (class, org_id)
);

create table operation_head (
  operation_id text collate "C" primary key,
  branch_id    text collate "C" unique,           -- null: it waits for no other operation
  class        text collate "C" not null,
  org_id       text collate "C" not null,
  lane         text collate "C" not null,         -- the branch that it copies, or empty
  position     bigint not null,
  due_at       timestamptz not null,              -- 1970: at once
  leased_until timestamptz
);
create index operation_head_due on operation_head (class, org_id, lane, due_at, position);
create index operation_head_leased on operation_head (class, leased_until) where leased_until is not null;
-- Whether an operation of a class is due: a claim looks there before it waits for the other claims of the class.
create index operation_head_soonest on operation_head (class, due_at);

create function operation_class(action text) returns text language sql immutable as $f$
  select case
    when action in ('create_compute', 'start_compute', 'suspend_compute', 'delete_compute') then 'computes'
    when action = 'apply_config' then 'roles'
    when action = 'delete_timeline' then 'deletions'
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
  insert into operation_head (operation_id, branch_id, class, org_id, lane, position, due_at, leased_until)
  values (o.id, o.branch_id, operation_class(o.action), o.org_id, coalesce(o.copies, ''), o.position,
    operation_due_at(o.retry_at, o.lease_until), o.lease_until)
  on conflict do nothing                          -- the branch has an earlier one
$f$;

/* After an insert, an update or a delete. */
create function operation_changed() returns trigger language plpgsql set search_path from current as $f$
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
    perform pg_advisory_xact_lock(hashtextextended('operation ' || v_branch, 'event_head'::regclass::oid::bigint));
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
`
