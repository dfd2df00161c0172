/**
 * A page costs the same wherever it lies and however long the list is: each statement of a list reads at most one row
 * more than the page, from an index. The statements are executed with the plan that Postgres keeps for all values, on
 * lists of 2,000 rows.
 */
import { assert, layer } from "@effect/vitest"
import {
  AccountStore,
  ApiKeyStore,
  BranchId,
  BranchRoleStore,
  BranchStore,
  ClientRefusalStore,
  EndpointStore,
  endpointsInUse,
  InvitationStore,
  OperationStore,
  OrgId,
  OverviewStore,
  type PageRequest,
  ProjectId,
  ProjectStore,
  type RoleOwner,
  UserId
} from "@narthex/core"
import { at } from "@narthex/core/testing"
import { DateTime, Effect, Layer, Schema } from "effect"
import { Database, PostgresStorage } from "../../src/index.ts"
import { testDatabase } from "../support/TestDatabase.ts"

const rows = 2000
const many = (insert: string) => `${insert} from generate_series(100001, ${100_000 + rows}) n`
/** One organization, user, project and branch that have everything. */
const fill = [
  many("insert into narthex.user_account select 'u' || n, 'i', 's' || n, null, false, null, now(), null, null"),
  many("insert into narthex.organization select 'o' || n, 'x', false, now(), now()"),
  "insert into narthex.organization values ('o', 'x', false, now(), now())",
  many("insert into narthex.membership select 'o', 'u' || n, 'member', now()"),
  many("insert into narthex.membership select 'o' || n, 'u', 'member', now()"),
  many(`insert into narthex.invitation select 'i' || n, 'o', 'm', 'member', '{"id": "u1", "email": null}', now(),
    '2100-01-01', null, null`),
  many(`insert into narthex.api_key (id, org_id, name, hint, capability, scope, created_at, created_by)
    select 'k' || n, 'o', 'x', 'y', 'read', '{"type": "organization"}', now(), '{"id": "u", "email": null}'`),
  many("insert into narthex.project select 'p' || n, 'o', 'x', 'r', 'b', now(), now(), null"),
  many(`insert into narthex.branch (id, project_id, region_id, name, current_state, "default", protected, made_by_agent,
      created_at, updated_at)
    select 'b' || n, 'p', 'r', 'x' || n, 'ready', false, false, false, now(), now()`),
  many("insert into narthex.branch_disk select 'b' || n, 'o', 1, now()"),
  many(`insert into narthex.endpoint (id, project_id, branch_id, region_id, type, current_state, disabled,
      suspend_timeout_seconds, created_at, updated_at, generation, connections)
    select 'e' || n, 'p', 'b', 'r', 'read_only', 'idle', false, 300, now(), now(), 1, 0`),
  many(`insert into narthex.operation (id, region_id, org_id, project_id, branch_id, action, status, failures_count, initiator, created_at,
      updated_at)
    select 'x' || n, 'r', 'o', 'p', 'b', 'create_branch', 'finished', 0, '{"type": "system", "id": null, "name": null}',
      now(), now()`),
  many(`insert into narthex.branch_role (branch_id, role, org_id, project_id, access, verifier, minted_by_agent, minted_by,
      created_at)
    select 'b', 'r' || n, 'o', 'p', 'read_only', 'v', false, '{"id": "u", "email": null}',
      '${DateTime.formatIso(at(0))}'::timestamptz + n * interval '1 second'`),
  many(`insert into narthex.client_refusal (endpoint_id, address, project_id, branch_id, role, reason, count, first_at, last_at,
      position)
    select 'e' || n, '192.0.2.1', 'p', 'b', 'r' || n, 'address_not_listed', 1, now(), now(), 'c' || n`),
  "analyze"
]

const [org, user, project, branch] = [OrgId.make("o"), UserId.make("u"), ProjectId.make("p"), BranchId.make("b")]
const prefixes = {
  "AccountStore.users": "u",
  "AccountStore.members": "u",
  "AccountStore.organizationsOf": "o",
  "InvitationStore.list": "i",
  "InvitationStore.pendingFor": "i",
  "ApiKeyStore.list": "k",
  "ProjectStore.list": "p",
  "BranchStore.list": "b",
  "EndpointStore.list": "e",
  "OperationStore.list": "x",
  "BranchRoleStore.list": "r",
  "ClientRefusalStore.list": "c"
} as const

/** The page of credentials after the role of this name. */
const ofRoles = ({ after, limit }: PageRequest) => ({
  limit,
  after: after === null ? null : { created_at: at(Number(after.slice(1))), role: after }
})

const lists = Effect.gen(function* () {
  const accounts = yield* AccountStore
  const invitations = yield* InvitationStore
  const keys = yield* ApiKeyStore
  const projects = yield* ProjectStore
  const branches = yield* BranchStore
  const endpoints = yield* EndpointStore
  const operations = yield* OperationStore
  const roles = yield* BranchRoleStore
  const refusals = yield* ClientRefusalStore
  const listed = (owner: RoleOwner | null, page: PageRequest) =>
    Effect.map(roles.list(branch, owner, ofRoles(page)), (items) => ({ items }))
  return (page: (operation: keyof typeof prefixes) => PageRequest) =>
    Effect.all(
      [
        accounts.users(page("AccountStore.users")),
        accounts.members(org, page("AccountStore.members")),
        accounts.organizationsOf(user, page("AccountStore.organizationsOf")),
        invitations.list(org, page("InvitationStore.list")),
        invitations.pendingFor("m", at(0), page("InvitationStore.pendingFor")),
        keys.list(org, null, at(0), page("ApiKeyStore.list")),
        keys.list(org, user, at(0), page("ApiKeyStore.list")),
        projects.list(org, null, page("ProjectStore.list")),
        branches.list(project, null, page("BranchStore.list")),
        endpoints.list(project, null, page("EndpointStore.list")),
        operations.list(project, {}, page("OperationStore.list")),
        operations.list(project, { branch_id: branch }, page("OperationStore.list")),
        operations.list(project, { status: "finished", action: "create_branch" }, page("OperationStore.list")),
        listed(null, page("BranchRoleStore.list")),
        listed({ user_id: user }, page("BranchRoleStore.list")),
        refusals.list(project, null, page("ClientRefusalStore.list")),
        refusals.list(project, { user_id: user }, page("ClientRefusalStore.list"))
      ],
      { concurrency: 1 }
    )
})

/** The overviews that pages show, of the same records. */
const overviews = Effect.gen(function* () {
  const store = yield* OverviewStore
  const limits = { organizations: 10, invitations: 10, projects: 10 }
  yield* store.ofPerson({ user, address: "m", org, now: at(0), limits })
  yield* store.ofProject(project, { branches: 10, endpoints: 10, operations: 10, rules: true })
  yield* store.ofProjects([{ id: project, default_branch_id: branch }], null)
})

/** How many rows the statement of an overview may read; those of lists read a page of 10 and one row more. */
const mostOf: Readonly<Record<string, number>> = {
  "OverviewStore.ofPerson": 10,
  "OverviewStore.ofProject": 10,
  "OverviewStore.ofProjects": endpointsInUse
}

interface Node {
  readonly "Node Type": string
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Rows Removed by Filter"?: number
  readonly Plans?: ReadonlyArray<Node>
}

/** The most rows that one node of the plan reads, those that it discards included. */
const mostRead = (node: Node): number =>
  Math.max(
    node["Actual Loops"] * (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)),
    ...(node.Plans ?? []).map(mostRead)
  )

const literal = (value: unknown): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return literal(`{${value.join(",")}}`)
  const text = value instanceof Date ? value.toISOString() : String(value)
  return `'${text.replaceAll("'", "''")}'`
}

layer(testDatabase, { excludeTestServices: true, timeout: "60 seconds" })("Pages on Postgres", (it) => {
  it.effect("a page reads at most limit + 1 rows, at the start of a list and at its end", () =>
    Effect.gen(function* () {
      const database = yield* Database
      yield* Effect.forEach(fill, (text) => database.query("fill", text))
      const asked: Array<{
        readonly operation: string
        readonly text: string
        readonly params: ReadonlyArray<unknown>
      }> = []
      const recording = Layer.succeed(
        Database,
        Database.of({
          ...database,
          query: (operation, text, params = []) =>
            Effect.suspend(() => {
              asked.push({ operation, text, params })
              return database.query(operation, text, params)
            })
        })
      )
      yield* Effect.gen(function* () {
        const read = yield* lists
        const ascending = new Set(["AccountStore.users", "AccountStore.organizationsOf"])
        const start = yield* read(() => ({ limit: 10, after: null }))
        const end = yield* read((operation) => ({
          limit: 10,
          after: prefixes[operation] + (ascending.has(operation) ? 100_000 + rows - 20 : 100_021)
        }))
        for (const page of [...start, ...end]) assert.lengthOf(page.items, 10)
        yield* overviews
      }).pipe(Effect.provide(PostgresStorage.layer.pipe(Layer.provide(recording))))
      const known = Schema.is(Schema.Literals([...Object.keys(prefixes), ...Object.keys(mostOf)]))
      const statements = asked.filter(({ operation }) => known(operation))
      assert.lengthOf(statements, 37)
      for (const [n, { operation, params, text }] of statements.entries()) {
        const plan = database.transaction(
          Effect.gen(function* () {
            yield* database.query("plan", "set local plan_cache_mode = force_generic_plan")
            yield* database.query("plan", `prepare page_${n} as ${text}`)
            const [row] = yield* database.query<{ readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: Node }> }>(
              "plan",
              `explain (analyze, format json) execute page_${n} (${params.map(literal).join(", ")})`
            )
            return row?.["QUERY PLAN"][0]?.Plan
          })
        )
        const node = yield* Effect.fromNullishOr(yield* plan)
        const said = `${operation} ${JSON.stringify(params)}\n${JSON.stringify(node, null, 1)}`
        assert.isAtMost(mostRead(node), mostOf[operation] ?? 11, said)
      }
    })
  )
})
