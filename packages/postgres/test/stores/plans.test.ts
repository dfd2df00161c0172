/**
 * No statement scans a growing table. The test records the statements of the stores and explains them on tables that
 * are large enough for an index to pay.
 *
 * The outbox is exempt: it is drained to empty, where a scan reads one page at most and is the right plan. The only
 * statement on it here is the bounded count of the gauges. eventSequence.test.ts holds the statement that takes events
 * from it to the key, because that one must not slow down with a backlog.
 */
import { assert, layer } from "@effect/vitest"
import {
  AccountStore,
  ApiKeyStore,
  AuditLog,
  BranchId,
  BranchStore,
  ClientRefusalStore,
  CredentialStore,
  EndpointId,
  EventLog,
  InvitationStore,
  noEvent,
  OperationStore,
  OrgId,
  OverviewStore,
  ProjectId,
  ProjectStore,
  QuotaStore,
  SessionId,
  SessionStore,
  UserId,
  WebhookId,
  WebhookStore
} from "@narthex/core"
import { aClaim, at } from "@narthex/core/testing"
import { Context, Effect, Layer } from "effect"
import { Database, PostgresStorage } from "../../src/index.ts"
import { testDatabase } from "../support/TestDatabase.ts"

interface Statement {
  readonly operation: string
  readonly text: string
  readonly params: ReadonlyArray<unknown>
}

/** The statements that were sent to the database. */
class Asked extends Context.Service<Asked, Array<Statement>>()("@narthex/postgres/test/Asked") {}

const recording = Layer.effect(
  Database,
  Effect.gen(function* () {
    const database = yield* Database
    const asked = yield* Asked
    return Database.of({
      ...database,
      query: (operation, text, params = []) =>
        Effect.suspend(() => {
          asked.push({ operation, text, params })
          return database.query(operation, text, params)
        })
    })
  })
)

const rows = 20_000
const fill = [
  // The statistics are those of the `analyze` below: autovacuum must not gather others while plans are explained.
  `do $$ declare it regclass; begin
     for it in select oid from pg_class where relkind = 'r' and relnamespace = 'narthex'::regnamespace loop
       execute format('alter table %s set (autovacuum_enabled = off)', it);
     end loop;
   end $$`,
  `insert into narthex.user_account select 'u' || n, 'i', 's' || n, null, false, null, now(), null, null
   from generate_series(1, ${rows}) n`,
  `insert into narthex.organization select 'o' || n, 'x', false, now(), now() from generate_series(1, ${rows}) n`,
  `insert into narthex.membership select 'o' || n, 'u' || n, 'member', now() from generate_series(1, ${rows}) n`,
  `insert into narthex.invitation select 'i' || n, 'o' || n, 'm' || n, 'member', '{"id": "u1", "email": null}', now(), now(), null, null
   from generate_series(1, ${rows}) n`,
  `insert into narthex.session select 's' || n, 'u' || n, 'o' || n, 0, now(), now(), null, null, 'p', null, null, 'd'
   from generate_series(1, ${rows}) n`,
  `insert into narthex.api_key (id, org_id, name, hint, capability, scope, created_at, created_by)
   select 'k' || n, 'o' || n, 'x', 'y', 'read', jsonb_build_object('type', 'branch', 'project_id', 'p' || n, 'branch_id', 'b' || n),
     now(), jsonb_build_object('id', 'u' || n, 'email', null) from generate_series(1, ${rows}) n`,
  `insert into narthex.api_key_secret select 'd' || n, 'k' || n, 1, 'p', null from generate_series(1, ${rows}) n`,
  `insert into narthex.project select 'p' || n, 'o' || n, 'x', 'r', 'b', now(), now(), null from generate_series(1, ${rows}) n`,
  `insert into narthex.branch select 'b' || n, 'p' || n, 'r', 'b' || n - 1, 'x', 'ready', null, false, false, false, now(),
     now(), now(), null, null from generate_series(1, ${rows}) n`,
  `insert into narthex.operation (id, org_id, project_id, branch_id, action, status, failures_count, initiator, created_at,
     updated_at) select 'x' || n, 'o' || n, 'p', 'b' || n, 'create_branch',
     case when n % 1000 = 0 then 'scheduling' else 'finished' end, 0,
     '{"type": "system", "id": null, "name": null}', now(), now()
   from generate_series(1, ${rows}) n`,
  `insert into narthex.event_log select n, narthex.event_id(n, 0, 0), narthex.event_id(n % 100, 0, 0), 'p' || n % 1000, 't', 's', 'r', now(),
     false, '{}' from generate_series(1, ${rows}) n`,
  `insert into narthex.endpoint (id, project_id, branch_id, region_id, type, current_state, disabled, suspend_timeout_seconds,
     created_at, updated_at, generation, connections)
   select 'e' || n, 'p' || n, 'b' || n, 'r', 'read_write', 'idle', false, 300, now(), now(), 1, 0
   from generate_series(1, ${rows}) n`,
  `insert into narthex.branch_role (branch_id, role, project_id, access, verifier, minted_by_agent, created_at)
   select 'b' || n, 'role_' || n, 'p' || n, 'read_only', 'v', false, now() from generate_series(1, ${rows}) n`,
  `insert into narthex.quota_override select 'o' || n, 'disk_bytes', 1 from generate_series(1, ${rows}) n`,
  `insert into narthex.branch_disk select 'b' || n, 'o' || n, 1, now() from generate_series(1, ${rows}) n`,
  `insert into narthex.ip_rule (project_id, cidr, label, created_at, created_by)
   select 'p' || n, '10.0.0.0/8', '', now(), '{"id": "u", "email": null}' from generate_series(1, ${rows}) n`,
  `insert into narthex.client_refusal select 'e' || n, '192.0.2.1', 'p' || n % 200, 'b' || n, null, 'address_not_listed', 1, now(),
     now(), n::text from generate_series(1, ${rows}) n`,
  `insert into narthex.refusal_report select 'proxy-' || n, 1, now() from generate_series(1, ${rows}) n`,
  `insert into narthex.operation_head (operation_id, branch_id, region_id, class, org_id, lane, position, due_at)
   select 'h' || n, 'h' || n, 'eu-1', 'roles', 'o' || n, '', n, now() from generate_series(1, ${rows}) n`,
  `insert into narthex.audit_entry select 'a' || n, 'o' || n % 200, now(), 'project.created', 'done',
     '{"type": "operator", "id": null, "name": null, "user": null}', '[]',
     '{"location": null, "user_agent": null, "request_id": null}', '{}', 1 from generate_series(1, ${rows}) n`,
  `insert into narthex.webhook
   select 'w' || n, 'o' || n % 200, null, 'https://hooks.example.com', '', '[]', 'active', null, '', 0, '', null, null, now(),
     '{"id": "u", "email": null}', now(), false, now() + n * interval '1 second', null, 0 from generate_series(1, ${rows}) n`,
  `insert into narthex.webhook_delivery
   select 'd' || n, 'w' || n % 200 + 1, '', '', 1, 'failed', null, null, '', now() + n * interval '1 second', 1
   from generate_series(1, ${rows}) n`,
  "analyze"
]

const asks = Effect.gen(function* () {
  const [org, user, project, branch] = [OrgId.make("o7"), UserId.make("u7"), ProjectId.make("p7"), BranchId.make("b7")]
  const eventOrg = OrgId.make("00000000-0007-0000-0000-000000000000")
  const page = { limit: 10, after: null }
  const keys = yield* ApiKeyStore
  const log = yield* EventLog
  const last = "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"
  yield* (yield* CredentialStore).byKeyDigest(["d7"])
  yield* (yield* CredentialStore).byKeyDigest(["d7", "other"])
  yield* (yield* CredentialStore).bySession(SessionId.make("s7"), org)
  yield* (yield* QuotaStore).disksOf([branch])
  yield* keys.findByDigest(["d7", "other"])
  yield* keys.list(org, null, at(0), page)
  yield* keys.list(org, user, at(0), page)
  yield* keys.countLive(org, user, at(0))
  yield* keys.revokeAll({ project_id: project }, "scope_deleted", at(0))
  yield* keys.revokeAll({ branch_id: branch }, "scope_deleted", at(0))
  yield* keys.revokeAll({ org_id: org, user_id: user }, "membership_ended", at(0))
  yield* (yield* SessionStore).active(user, at(0), 10)
  yield* (yield* InvitationStore).pendingFor("m7", at(0), page)
  yield* (yield* InvitationStore).oldestFor("m7", at(0), 20)
  yield* (yield* AccountStore).users(page)
  yield* (yield* AccountStore).organizationsOf(user, page)
  yield* (yield* AccountStore).landingOf(user)
  yield* (yield* AccountStore).findMember(org, user)
  yield* (yield* AccountStore).hasOtherOwner(org, user)
  yield* (yield* ProjectStore).list(org, null, page)
  yield* (yield* BranchStore).list(project, null, page)
  yield* (yield* BranchStore).hasChildren(branch)
  yield* (yield* BranchStore).expired(at(0), 10)
  const operations = yield* OperationStore
  yield* operations.claim({ ...aClaim("roles"), worker: "w", now: at(0), lease_until: at(1) })
  const [status, endpoint_id] = ["failed" as const, EndpointId.make("e7")]
  yield* operations.list(project, {}, page)
  yield* operations.list(project, { branch_id: branch }, page)
  yield* operations.list(project, { status }, page)
  yield* operations.list(project, { action: "start_compute", endpoint_id }, page)
  yield* operations.list(project, { status, action: "start_compute", branch_id: branch, endpoint_id }, page)
  yield* operations.unfinished(branch)
  yield* operations.unfinished(branch, { actions: ["start_compute", "suspend_compute"], endpoint_id, limit: 2 })
  const overviews = yield* OverviewStore
  const limits = { organizations: 10, invitations: 10, projects: 10 }
  yield* overviews.ofPerson({ user, address: "m7", org, now: at(0), limits })
  yield* overviews.ofProject(project, { branches: 10, endpoints: 10, operations: 10, rules: true })
  yield* overviews.ofProjects([{ id: project, default_branch_id: branch }], null)
  yield* overviews.ofProjects([{ id: project, default_branch_id: branch }], branch)
  yield* overviews.names(org, { projects: [project], branches: [branch], people: [user] })
  const refusals = yield* ClientRefusalStore
  const refused = { role: null, reason: "address_not_listed" as const, count: 1, first_at: at(0), last_at: at(0) }
  const noted = [7, 8, 9].map((n) => ({
    ...refused,
    endpoint_id: EndpointId.make(`e${n}`),
    address: "192.0.2.7",
    position: `1-${n}`
  }))
  yield* refusals.note({ proxy_id: "proxy-7", sequence: 2, refusals: noted }, at(0))
  yield* refusals.list(project, null, page)
  yield* refusals.list(project, { user_id: user }, page)
  yield* refusals.purge(at(0))
  const audit = yield* AuditLog
  yield* audit.list(org, {}, page)
  yield* audit.list(org, { from: at(0), until: at(1) }, page)
  yield* audit.list(org, { action: "project.deleted", actor_id: user, target_id: project, outcome: "refused" }, page)
  yield* audit.list(null, {}, page)
  yield* audit.purge(at(0), 10)
  const webhooks = yield* WebhookStore
  const webhook = WebhookId.make("w7")
  yield* webhooks.find(org, webhook)
  yield* webhooks.lock(org, webhook)
  yield* webhooks.list(org, page)
  yield* webhooks.wake([org], at(0))
  yield* webhooks.claim({ worker: "w", now: at(0), lease_until: at(60), except: [OrgId.make("o8")] })
  yield* webhooks.deliveries(webhook, page)
  yield* webhooks.purge(at(0), 10)
  yield* webhooks.remove(org, webhook)
  yield* log.tail(rows - 10, 100)
  yield* log.headOf(eventOrg)
  yield* log.window(eventOrg, 100)
  yield* log.scopeHasBetween(eventOrg, project, noEvent, last)
  yield* log.history(eventOrg, project, noEvent, 100)
  yield* log.history(eventOrg, null, noEvent, 100)
  yield* log.newest(eventOrg, project, { after: noEvent, before: null }, 100)
  yield* log.newest(eventOrg, null, { after: noEvent, before: null }, 100)
})

layer(testDatabase, { excludeTestServices: true })("plans", (it) => {
  it.effect("every statement finds its rows by an index, and a credential takes one statement", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      yield* Effect.forEach(fill, (text) => query("fill", text))
      const asked: Array<Statement> = []
      const storage = PostgresStorage.layer.pipe(Layer.provide(recording), Layer.provide(Layer.succeed(Asked, asked)))
      yield* Effect.provide(asks, storage)
      for (const { operation, params, text } of asked) {
        const plan = yield* query<Record<string, string>>("explain", `explain ${text}`, params)
        const lines = plan.flatMap((row) => Object.values(row))
        const scans = lines.filter((line) => /Seq Scan on (?!event_head|event_floor|event_outbox|org\b)/.test(line))
        assert.deepStrictEqual(scans, [], `${operation}\n${lines.join("\n")}`)
        if (operation === "OperationStore.due") assert.include(lines.join("\n"), "operation_head_soonest")
      }
      assert.isAbove(asked.length, 25)
      const credentials = asked.filter(({ operation }) => operation.startsWith("CredentialStore."))
      assert.lengthOf(credentials, 3, "two lookups of a key and one of a session")
      const overviews = asked.filter(({ operation }) => operation.startsWith("OverviewStore."))
      assert.lengthOf(overviews, 5, "one of a person, one of a project, two of projects, one of names")
    })
  )
})
