/**
 * People take turns, not organizations: the organizations of one person share the places of a class and take one turn
 * between them. `operation_person_turn` has the latest claim of each person.
 *
 * `organization_person` is the core's `personOf`. It is asked at each claim, for the organizations that wait, so a change
 * of members needs no trigger.
 */
export const people = `
create table operation_person_turn (
  class  text collate "C" not null,
  person text collate "C" not null,
  served bigint not null,                         -- the fence of the claim
  primary key (class, person)
);

create index membership_owners on membership (org_id, joined_at, user_id) where role = 'owner';

create function organization_person(p_org text) returns text language sql stable as $f$
  select coalesce(
    (select o.id from organization o where o.id = p_org and o.personal),
    (select f.user_id from organization_founder f
     where f.org_id = p_org and exists (
       select 1 from membership m where m.org_id = p_org and m.user_id = f.user_id and m.role = 'owner')),
    (select m.user_id from membership m where m.org_id = p_org and m.role = 'owner'
     order by m.joined_at, m.user_id limit 1),
    p_org)
$f$;

create or replace function operation_claim(
  p_class text, p_worker text, p_now timestamptz, p_until timestamptz, p_per_org int, p_per_parent int
) returns setof operation language plpgsql set enable_seqscan = off as $f$
declare
  v_org text;
  v_person text;
  v_id text;
  v_project text;
  v_fence bigint;
  v_locked text[] := '{}';
begin
  perform pg_advisory_xact_lock(hashtextextended('operation_claim ' || p_class, 0));
  for v_org, v_person in
    with recursive org (id) as (
      (select h.org_id from operation_head h where h.class = p_class order by h.org_id limit 1)
      union all
      select n.org_id from org cross join lateral (
        select h.org_id from operation_head h where h.class = p_class and h.org_id > org.id
        order by h.org_id limit 1) n
    ), claimed as (
      select h.org_id, count(*) as n from operation_head h where h.class = p_class and h.leased_until > p_now
      group by h.org_id
    ), waiting as materialized (
      select org.id, organization_person(org.id) as person, coalesce(claimed.n, 0) as n
      from org left join claimed on claimed.org_id = org.id
    ), counted as (
      select w.id, w.person, w.n, sum(w.n) over (partition by w.person) as of_person from waiting w
    )
    select c.id, c.person from counted c
    left join operation_person_turn p on p.class = p_class and p.person = c.person
    left join operation_turn t on t.class = p_class and t.org_id = c.id and t.project_id = ''
    where c.of_person < p_per_org
    order by c.of_person, coalesce(p.served, 0), c.person, c.n, coalesce(t.served, 0), c.id
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
        insert into operation_person_turn values (p_class, v_person, v_fence)
        on conflict (class, person) do update set served = excluded.served;
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
