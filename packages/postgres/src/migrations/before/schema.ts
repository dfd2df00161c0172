/**
 * The last step from before the first release: the tables have a schema of their own. Functions that use them set the
 * search path, as in a new store, and notify on the channel that has the schema's name.
 */
export const ownSchema = `
create or replace function event_joined() returns trigger language plpgsql set search_path from current as $f$
begin
  update event_outbox set seq = default where seq = new.seq;
  return null;
end $f$;

do $do$ begin
  execute replace(pg_get_functiondef('event_sequence(int)'::regprocedure),
    'pg_notify(''events'', (h.pos + n)::text);        ', 'pg_notify(current_schema(), (h.pos + n)::text);');
  execute replace(pg_get_functiondef('operation_changed()'::regprocedure),
    '''operation '' || v_branch, 0)', '''operation '' || v_branch, ''event_head''::regclass::oid::bigint)');
end $do$;

alter function event_sequence(int) set search_path from current;
alter function host_session_ended() set search_path from current;
alter function operation_changed() set search_path from current;
`

/** The objects that move to the schema. Indexes, triggers and sequences of columns follow their tables. */
export const objects: ReadonlyArray<string> = [
  // Before the table whose type its parameter has.
  "function operation_put_head(operation)",
  ...[
    "api_key",
    "api_key_secret",
    "branch",
    "branch_disk",
    "branch_role",
    "cli_grant",
    "client_refusal",
    "compute_doubt",
    "compute_home",
    "endpoint",
    "endpoint_use",
    "event_floor",
    "event_head",
    "event_log",
    "event_outbox",
    "idempotency_record",
    "invitation",
    "ip_allowlist",
    "ip_rule",
    "membership",
    "narthex_migration",
    "operation",
    "operation_head",
    "operation_turn",
    "organization",
    "organization_founder",
    "project",
    "quota_override",
    "rate_limit",
    "refusal_report",
    "region",
    "report_reception",
    "session",
    "signing_key",
    "spent_id_token",
    "static_compute",
    "static_compute_running",
    "user_account"
  ].map((name) => `table ${name}`),
  "sequence idempotency_attempt",
  "sequence operation_fence",
  "function endpoint_dated()",
  "function event_id(bigint, bigint, bigint)",
  "function event_joined()",
  "function event_sequence(int)",
  "function host_session_ended()",
  "function operation_changed()",
  "function operation_class(text)",
  "function operation_due_at(timestamptz, timestamptz)",
  "function operation_is_open(text)"
]
