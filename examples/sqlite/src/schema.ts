/**
 * The tables: one for each kind of record, and an index for each question that is asked often.
 *
 * A program that has been released never edits this text: it adds migrations.
 */

/**
 * Tables of documents (`documents.ts`). Rows keep their place when they are replaced, so `rowid` is the order of
 * inserts.
 */
const tables = [
  ...["user", "organization", "membership", "invitation", "region", "api_key", "session", "signing_key", "cli_grant"],
  ...["project", "branch", "endpoint", "branch_role", "operation", "idempotency_record", "client_refusal"]
]

const indexes: ReadonlyArray<readonly [table: string, unique: "" | "unique", on: string, where?: string]> = [
  ["user", "unique", "doc ->> 'issuer', doc ->> 'subject'"],
  ["user", "", "lower(doc ->> 'email')"],
  ["membership", "", "doc ->> 'org_id', doc ->> 'user_id'"],
  ["membership", "", "doc ->> 'user_id'"],
  ["invitation", "", "doc ->> 'org_id', id"],
  ["invitation", "", "doc ->> 'email', id"],
  ["api_key", "", "doc ->> 'org_id', id"],
  ["session", "", "doc ->> 'user_id', id"],
  ["session", "", "doc ->> 'id_token_digest', id"],
  ["cli_grant", "unique", "doc ->> 'state_digest'"],
  ["project", "", "doc ->> '$.project.org_id', id"],
  ["branch", "", "doc ->> '$.branch.project_id', id"],
  ["branch", "unique", "doc ->> '$.branch.project_id', doc ->> '$.branch.name'", "doc ->> 'deleted_at' is null"],
  ["branch", "", "doc ->> '$.branch.parent_id'"],
  ["endpoint", "", "doc ->> '$.endpoint.project_id', id"],
  ["endpoint", "", "doc ->> '$.endpoint.branch_id'"],
  ["branch_role", "", "doc ->> 'branch_id'"],
  ["operation", "", "doc ->> 'project_id', id"],
  ["operation", "", "doc ->> 'branch_id'"],
  ["operation", "", "doc ->> 'endpoint_id'"],
  ["operation", "", "doc ->> 'status'"],
  ["client_refusal", "unique", "doc ->> 'project_id', doc ->> 'position'"],
  ["client_refusal", "", "doc ->> '$.refusal.last_at'"]
]

const relations = `
create table if not exists api_key_secret (digest text primary key, key_id text not null) strict;
create index if not exists api_key_secret_key on api_key_secret (key_id);
create table if not exists spent_id_token (digest text primary key, expires_at integer not null) strict;
create table if not exists rate_limit (
  limit_name text, subject text, "window" integer not null, taken integer not null, taken_before integer not null,
  stale_at integer not null, primary key (limit_name, subject)) strict;
create table if not exists ip_allowlist (project_id text primary key, version integer not null, rules text not null) strict;
create table if not exists compute_doubt (endpoint_id text primary key, generation integer not null, at integer not null) strict;
create table if not exists endpoint_use (
  endpoint_id text, proxy_id text, generation integer not null, sequence integer not null, connections integer not null,
  busy integer not null, reported_at integer not null, primary key (endpoint_id, proxy_id)) strict;
create table if not exists refusal_report (proxy_id text primary key, sequence integer not null, reported_at integer not null) strict;
create table if not exists report_reception (one integer primary key, seen_at integer not null, since integer not null) strict;
create table if not exists operation_turn (key text primary key, served integer not null) strict;
create table if not exists counter (name text primary key, value integer not null) strict;
create table if not exists quota_override (org_id text, quota text, allowed integer not null, primary key (org_id, quota)) strict;
create table if not exists organization_founder (org_id text primary key, user_id text not null) strict;
create table if not exists branch_disk (
  branch_id text primary key, org_id text not null, bytes integer not null, measured_at text) strict;

create table if not exists event (
  pos integer primary key, id text not null unique, org_id text not null, project_id text, internal integer not null,
  at integer not null, doc text not null) strict;
create index if not exists event_of_organization on event (org_id, id);
create table if not exists event_head (
  one integer primary key, pos integer not null, id text not null, ms integer not null, r40 integer not null,
  c32 integer not null) strict;
create table if not exists event_floor (org_id text primary key, id text not null) strict;
`

const statements = [
  ...tables.map((table) => `create table if not exists ${table} (id text primary key, doc text not null) strict;`),
  ...indexes.map(
    ([table, unique, on, where], n) =>
      `create ${unique} index if not exists ${table}_${n} on ${table} (${on})${where === undefined ? "" : ` where ${where}`};`
  )
]

export const schema = `${statements.join("\n")}\n${relations}`
