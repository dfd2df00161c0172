/**
 * Deletions of branches are a class of their own, so that none waits for copies.
 *
 * `operation_claim_in` is the claim of one class. `operation_claim` is what runners of an earlier release call, whose
 * class `branches` has the deletions too: they perform them as long as they run beside newer ones, or after a return to
 * that release.
 */
export const deletions = `
create or replace function operation_class(action text) returns text language sql immutable as $f$
  select case
    when action in ('create_compute', 'start_compute', 'suspend_compute', 'delete_compute') then 'computes'
    when action = 'apply_config' then 'roles'
    when action = 'delete_timeline' then 'deletions'
    else 'branches' end
$f$;

update operation_head h set class = 'deletions'
from operation o where o.id = h.operation_id and o.action = 'delete_timeline';

alter function operation_claim(text, text, timestamptz, timestamptz, int, int) rename to operation_claim_in;

create function operation_claim(
  p_class text, p_worker text, p_now timestamptz, p_until timestamptz, p_per_org int, p_per_parent int
) returns setof operation language plpgsql as $f$
begin
  return query select * from operation_claim_in(p_class, p_worker, p_now, p_until, p_per_org, p_per_parent);
  if p_class = 'branches' and not found then
    return query select * from operation_claim_in('deletions', p_worker, p_now, p_until, p_per_org, p_per_parent);
  end if;
end $f$;
`
