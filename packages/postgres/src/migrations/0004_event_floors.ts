/**
 * The floor of each organization: the id up to which its events were trimmed.
 *
 * Retention keeps the newest events of every organization, however old, so one organization may be trimmed to a later
 * id than another has ever reached. With one floor for all, organizations with few events would report gaps that they
 * do not have. `event_head.trimmed_to` remains for changes of the timeline, which apply to all organizations.
 *
 * Project ids are not UUIDs, so the event tables hold them as text.
 */
export const eventFloors = `
create table event_floor (
  org_id     uuid primary key,
  trimmed_to uuid not null                        -- highest id that retention removed
);

alter table event_outbox alter column project_id type text collate "C";
alter table event_log alter column project_id type text collate "C";
`
