/**
 * Up to where each organization's events were trimmed.
 *
 * Retention keeps the newest events of every organization, however old, so one organization may be trimmed to a later
 * id than another has ever reached. One floor for all would tell the quiet ones of gaps that they do not have.
 * `event_head.trimmed_to` is left to changes of the timeline, which do concern everybody.
 *
 * Project ids are no UUIDs, so the event tables hold them as text.
 */
export const eventFloors = `
create table event_floor (
  org_id     uuid primary key,
  trimmed_to uuid not null                        -- highest id that retention removed
);

alter table event_outbox alter column project_id type text collate "C";
alter table event_log alter column project_id type text collate "C";
`
