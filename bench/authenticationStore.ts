/** Stores with many keys, and the statements of the bare server: the joins of the real one. */
import { Database } from "@narthex/postgres"
import { Effect, Layer, Redacted, References } from "effect"
import type { Store } from "./authenticationLoad.ts"

/** The benchmark's own connection to a store, without a word about its errors. */
export const databaseOf = ({ database, host, user }: Store) => {
  const url = Redacted.make(`postgresql:///${database}?host=${encodeURIComponent(host)}&user=${user}`)
  const quiet = Layer.succeed(References.MinimumLogLevel, "None")
  return Layer.merge(Database.layer({ url, maxConnections: 1, applicationName: "bench" }), quiet)
}

/** Creates users with ten keys each, up to this number of keys. */
const filling = [
  `insert into narthex.user_account (id, issuer, subject, email, email_verified, created_at, enabled_at)
   select 'user-' || n, 'https://issuer.test', 'user-' || n, 'user-' || n || '@example.com', true, now(), now()
   from generate_series(0, $1::int / 10) n`,
  `insert into narthex.organization (id, name, personal, created_at, updated_at)
   select 'user-' || n, 'somebody''s organization', true, now(), now() from generate_series(0, $1::int / 10) n`,
  `insert into narthex.membership (org_id, user_id, role, joined_at)
   select 'user-' || n, 'user-' || n, 'owner', now() from generate_series(0, $1::int / 10) n`,
  `insert into narthex.api_key (id, org_id, name, hint, capability, scope, created_at, created_by)
   select 'key-' || n, 'user-' || n / 10, 'k', '…abcd', 'read_write', '{"type":"organization"}', now(),
     jsonb_build_object('id', 'user-' || n / 10, 'email', 'user-' || n / 10 || '@example.com')
   from generate_series(1, $1::int) n`,
  `insert into narthex.api_key_secret (digest, key_id, position, pepper_id)
   select translate(rtrim(encode(sha256(n::text::bytea), 'base64'), '='), '+/', '-_'), 'key-' || n, 1, 'bench'
   from generate_series(1, $1::int) n`
]

export const fill = (keys: number) =>
  Effect.gen(function* () {
    const { query } = yield* Database
    for (const text of filling) yield* query("bench", text, [keys])
    yield* query("bench", "vacuum analyze")
  })

const standing = "to_jsonb(u) as standing_user, to_jsonb(o) as standing_organization, m.role as standing_role"

export const keyStatement = `
  select k.*, (select jsonb_agg(to_jsonb(it)) from narthex.api_key_secret it where it.key_id = k.id) as secrets, ${standing}
  from narthex.api_key_secret s
  join narthex.api_key k on k.id = s.key_id
  join narthex.user_account u on u.id = k.creator_id
  left join narthex.organization o on o.id = k.org_id
  left join narthex.membership m on m.org_id = k.org_id and m.user_id = k.creator_id
  where s.digest = $1`

export const sessionStatement = `
  select s.*, ${standing}
  from narthex.session s
  join narthex.user_account u on u.id = s.user_id
  left join narthex.organization o on o.id = s.active_org_id
  left join narthex.membership m on m.org_id = s.active_org_id and m.user_id = s.user_id
  where s.id = $1`

/** The newest event of an organization, and a page of its projects. */
export const headStatement = `
  select greatest(
    (select trimmed_to from narthex.event_floor where org_id = $1::uuid), (select trimmed_to from narthex.event_head where one),
    (select id from narthex.event_log where org_id = $1::uuid order by id desc limit 1)) as id`

export const projectsStatement = `
  select * from narthex.project where org_id = $1 and deleted_at is null and id < '~' order by id desc limit 101`

/** Three projects for each organization, without branches, which a list does not read. */
export const withProjects = `
  insert into narthex.project select o.id || '-' || n, o.id, 'bench', 'local', 'branch', now(), now(), null
  from narthex.organization o, generate_series(1, 3) n`

/** The first read of a new rule of an allowlist, after the credential. */
const projectStatement = "select * from narthex.project where id = $1"

/** The changes of a new rule in one transaction, as the real server makes them. */
const addChanges = [
  `insert into narthex.ip_allowlist as list (project_id, version) values ($1, 1)
   on conflict (project_id) do update set version = list.version + 1 returning version`,
  "select * from narthex.ip_rule where project_id = $1 order by position",
  `insert into narthex.ip_rule (project_id, cidr, label, created_at, created_by, expires_at)
   select $2, it.cidr, it.label, it.created_at, it.created_by, it.expires_at
   from jsonb_populate_record(null::narthex.ip_rule, $1::text::jsonb) as it
   on conflict (project_id, cidr) do update set label = excluded.label, created_at = excluded.created_at,
     created_by = excluded.created_by, expires_at = excluded.expires_at, position = default`,
  `insert into narthex.event_outbox (org_id, project_id, type, source, region_id, at, internal, data, joined)
   select it.org_id, it.project_id, it.type, it.source, it.region_id, it.at, it.internal, it.data, false
   from jsonb_to_recordset($1::text::jsonb) as it(org_id uuid, project_id text, type text, source text, region_id text,
     at timestamptz, internal boolean, data jsonb)`
]

/** The statements after a commit with events, once for all commits until then. */
export const sequenceStatement = "select narthex.event_sequence($1) as n"
export const tailStatement = "select * from narthex.event_log where pos > $1 order by pos limit $2"

/** The statements of a new rule after the one of its credential, and their parameters for one. */
export const adding = {
  statements: [projectStatement],
  changes: addChanges,
  parameters: (org_id: string, project_id: string, cidr: string) => {
    const at = new Date().toISOString()
    const type = "internal.allowlist_changed.v1"
    const rule = { cidr, label: "", created_at: at, created_by: { id: org_id, email: "" }, expires_at: null }
    const event = { org_id, project_id, type, source: "internal", region_id: "local", at, internal: true }
    return [
      [project_id],
      [project_id],
      [project_id],
      [JSON.stringify(rule), project_id],
      [JSON.stringify([{ ...event, data: { version: 1, project_id } }])]
    ]
  }
}
