/** Stores with many keys, and the statements of the bare server: the joins of the real one. */
import { Database } from "@narthex/postgres"
import { Effect } from "effect"

/** Creates users with ten keys each, up to this number of keys. */
const filling = [
  `insert into user_account (id, issuer, subject, email, email_verified, created_at, enabled_at)
   select 'user-' || n, 'https://issuer.test', 'user-' || n, 'user-' || n || '@example.com', true, now(), now()
   from generate_series(0, $1::int / 10) n`,
  `insert into organization (id, name, personal, created_at, updated_at)
   select 'user-' || n, 'somebody''s organization', true, now(), now() from generate_series(0, $1::int / 10) n`,
  `insert into membership (org_id, user_id, role, joined_at)
   select 'user-' || n, 'user-' || n, 'owner', now() from generate_series(0, $1::int / 10) n`,
  `insert into api_key (id, org_id, name, hint, capability, scope, created_at, created_by)
   select 'key-' || n, 'user-' || n / 10, 'k', '…abcd', 'read_write', '{"type":"organization"}', now(),
     jsonb_build_object('id', 'user-' || n / 10, 'email', 'user-' || n / 10 || '@example.com')
   from generate_series(1, $1::int) n`,
  `insert into api_key_secret (digest, key_id, position, pepper_id)
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
  select k.*, (select jsonb_agg(to_jsonb(it)) from api_key_secret it where it.key_id = k.id) as secrets, ${standing}
  from api_key_secret s
  join api_key k on k.id = s.key_id
  join user_account u on u.id = k.creator_id
  left join organization o on o.id = k.org_id
  left join membership m on m.org_id = k.org_id and m.user_id = k.creator_id
  where s.digest = $1`

export const sessionStatement = `
  select s.*, ${standing}
  from session s
  join user_account u on u.id = s.user_id
  left join organization o on o.id = s.active_org_id
  left join membership m on m.org_id = s.active_org_id and m.user_id = s.user_id
  where s.id = $1`

/** The newest event of an organization, and a page of its projects. */
export const headStatement = `
  select greatest(
    (select trimmed_to from event_floor where org_id = $1::uuid), (select trimmed_to from event_head where one),
    (select id from event_log where org_id = $1::uuid order by id desc limit 1)) as id`

export const projectsStatement = `
  select * from project where org_id = $1 and deleted_at is null and id < '~' order by id desc limit 101`

/** Three projects for each organization, without branches, which a list does not read. */
export const withProjects = `
  insert into project select o.id || '-' || n, o.id, 'bench', 'local', 'branch', now(), now(), null
  from organization o, generate_series(1, 3) n`
