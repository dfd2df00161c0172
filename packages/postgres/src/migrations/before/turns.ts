/**
 * The step from the schema before the first release to that of the first release. Organizations take turns, not people or
 * projects: `operation_turn` has the latest claim of each organization, and begins empty.
 *
 * An instance from before cannot claim any more, nor purge deleted projects: the functions that it calls are gone.
 */
export const turns = `
drop function operation_claim(text, text, timestamptz, timestamptz, int, int);
drop function operation_claim_in(text, text, timestamptz, timestamptz, int, int);
drop function operation_candidates(text, text, timestamptz, int, text[]);
drop function organization_person(text);
drop index membership_owners;
drop table operation_person_turn;

drop table operation_turn;
create table operation_turn (
  class  text collate "C" not null,
  org_id text collate "C" not null,
  served bigint not null,                         -- the fence of the claim
  primary key (class, org_id)
);

alter table operation_head drop column project_id;
create index operation_head_due on operation_head (class, org_id, lane, due_at, position);

create or replace function operation_put_head(o operation) returns void language sql as $f$
  insert into operation_head (operation_id, branch_id, class, org_id, lane, position, due_at, leased_until)
  values (o.id, o.branch_id, operation_class(o.action), o.org_id, coalesce(o.copies, ''), o.position,
    operation_due_at(o.retry_at, o.lease_until), o.lease_until)
  on conflict do nothing                          -- the branch has an earlier one
$f$;
`
