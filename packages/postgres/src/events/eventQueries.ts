/**
 * The statements that read and trim the event log. Each is one snapshot.
 *
 * `$1` is the organization in all but `trim`. Its floor is the id up to which its events count as trimmed: the newest
 * id that retention removed (`event_floor`), or that of a change of the timeline, which applies to all organizations
 * (`event_head`). Events at or below the floor are never returned, even while the table still has them, so floor and
 * events always agree.
 */

/** Either may be missing; `greatest` ignores nulls. */
const floor = `select greatest(
  (select trimmed_to from narthex.event_floor where org_id = $1), (select trimmed_to from narthex.event_head where one)) as id`

const afterFloor = "coalesce(floor.id, '00000000-0000-0000-0000-000000000000')"

/** The newest id up to `$2`. */
export const headOf = `
with floor as (${floor})
select greatest(floor.id, (
  select id from narthex.event_log where org_id = $1 and id <= $2 order by id desc limit 1)) as id from floor`

/**
 * The events that a stream may show: no internal ones, and for a stream of a project the events of that project only.
 * `parameter` is the number of the project's parameter.
 */
const visible = (project: boolean, parameter = 4) =>
  `org_id = $1 and not internal ${project ? `and project_id = $${parameter}` : ""}`

/**
 * The newest `$2` visible rows, and the newest of all where that is an internal one, each with the floor; one row with
 * the floor alone when there are none.
 */
export const window = `
with floor as (${floor})
select floor.id as floor, newest.* from floor left join lateral (
  (select * from narthex.event_log where ${visible(false)} and id > ${afterFloor} order by id desc limit $2)
  union all
  select * from (
    select * from narthex.event_log where org_id = $1 and id > ${afterFloor} order by id desc limit 1) head where internal
) newest on true`

/** Whether the scope has an event with `$2 < id <= $3`; trimmed ones count as present. `$4` is the project, if any. */
export const scopeHasBetween = (project: boolean): string => `
with floor as (${floor})
select (floor.id > $2 and $3::uuid > $2) is true
  or exists (select 1 from narthex.event_log where ${visible(project)} and id > $2 and id <= $3) as has
from floor`

/** The first `$3` rows after `$2`, oldest first, each with the floor and the oldest id. `$4` is the project, if any. */
export const history = (project: boolean): string => `
with floor as (${floor})
select floor.id as floor, page.*, (
  select id from narthex.event_log where ${visible(project)} and id > ${afterFloor} order by id limit 1) as oldest_id
from floor left join lateral (
  select * from narthex.event_log where ${visible(project)} and id > greatest($2, floor.id) order by id limit $3
) page on true`

/** The last `$3` rows between `$2` and `$4`, newest first, else as `history`. `$5` is the project, if any. */
export const newest = (project: boolean): string => `
with floor as (${floor})
select floor.id as floor, page.*, (
  select id from narthex.event_log where ${visible(project, 5)} and id > ${afterFloor} order by id limit 1) as oldest_id
from floor left join lateral (
  select * from narthex.event_log
  where ${visible(project, 5)} and id > greatest($2, floor.id) and id < $4 order by id desc limit $3
) page on true`

/**
 * Removes the oldest events that are before `$1` and not among the newest `$2` of their organization, at most 1,000 of
 * each of 50 organizations, to stay within the time limit of a statement. The removed events of an organization are
 * always a prefix by id: `at` comes from the clock of the emitting instance and need not rise with the id.
 */
export const trim = `
with recursive org as (
  (select org_id from narthex.event_log order by org_id limit 1)
  union all
  select (select l.org_id from narthex.event_log l where l.org_id > org.org_id order by l.org_id limit 1)
  from org where org.org_id is not null
), cut as (
  select org.org_id, kept.id as newest_to_go, recent.id as first_recent
  from org
  join lateral (
    select at from narthex.event_log where org_id = org.org_id order by id limit 1) oldest on oldest.at < $1
  join lateral (
    select id from narthex.event_log where org_id = org.org_id order by id desc offset $2 limit 1) kept on true
  left join lateral (
    select id from narthex.event_log where org_id = org.org_id and at >= $1 order by id limit 1) recent on true
  limit 50
), doomed as (
  select part.pos from cut join lateral (
    select pos from narthex.event_log
    where org_id = cut.org_id and id <= cut.newest_to_go and (cut.first_recent is null or id < cut.first_recent)
    order by id limit 1000) part on true
), gone as (
  delete from narthex.event_log where pos in (select pos from doomed) returning org_id, id
), floors as (
  insert into narthex.event_floor as floor (org_id, trimmed_to)
  select distinct on (org_id) org_id, id from gone order by org_id, id desc
  on conflict (org_id) do update set trimmed_to = greatest(floor.trimmed_to, excluded.trimmed_to)
)
select count(*) as n from gone`
