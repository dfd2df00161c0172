/** Webhooks with the claims of the workers that deliver, and the log of attempts. */
export const webhooks = `
create table webhook (
  id                         text collate "C" primary key,
  org_id                     text collate "C" not null,
  project_id                 text collate "C",           -- null: the whole organization
  url                        text not null,
  label                      text not null,
  types                      jsonb not null,             -- empty: all
  status                     text not null,
  paused_reason              text,
  position                   text collate "C" not null,  -- the id of the last event that is done
  failures_count             integer not null,
  secret                     text not null,              -- sealed
  previous_secret            text,
  previous_secret_expires_at timestamptz,
  created_at                 timestamptz not null,
  created_by                 jsonb not null,
  updated_at                 timestamptz not null,
  woken                      boolean not null,
  due_at                     timestamptz not null,
  lease_owner                text,
  fence                      bigint not null
);
create index on webhook (org_id, id);
create index on webhook (due_at) where status = 'active';

create table webhook_delivery (
  id           text collate "C" primary key,             -- sorts by attempted_at
  webhook_id   text collate "C" not null references webhook on delete cascade,
  event_id     text not null,
  event_type   text not null,
  attempt      integer not null,
  outcome      text not null,
  status       integer,
  error        text,
  excerpt      text not null,
  attempted_at timestamptz not null,
  duration_ms  integer not null
);
create index on webhook_delivery (webhook_id, id);
create index on webhook_delivery (attempted_at);
`
