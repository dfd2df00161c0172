/** Ids in paths and bodies, and lists in pages. Holds docs/design/api.md A26. */
import { assert, layer } from "@effect/vitest"
import { Api } from "@narthex/api"
import { PostgresStorage } from "@narthex/postgres"
import { Effect, Layer } from "effect"
import { testDatabase } from "../../../postgres/test/support/TestDatabase.ts"
import { apiOver, memoryApi, proxyToken, type Serving, someServings } from "../support/apiOver.ts"
import { arrive, branch, type Caller, founder, joined, key, named, project, refused } from "../support/story.ts"
import { bytes, call } from "../support/wire.ts"

const malformed = [
  "not-an-id",
  "%00",
  "prj-%00x",
  "%ED%A0%80",
  "%F0%9F%A6%86",
  "%zz",
  "a%2Fb",
  "%2e%2e",
  "'--",
  "x".repeat(300),
  "PRJ-1"
]
/** The URL of a `Request` has no dot segments: they are folded before the API sees it. */
const formsOver = (serving: Serving) => malformed.filter((id) => serving !== "fetch" || id !== "%2e%2e")

const invented: Record<string, string> = {
  project_id: "prj-01k3p5q7r9s1t3v5w7x9z0000a",
  branch_id: "br-01k3p5q7r9s1t3v5w7x9z0000a",
  endpoint_id: "ep-01k3p5q7r9s1t3v5w7x9z0000a",
  api_key_id: "key-01k3p5q7r9s1t3v5w7x9z0000a"
}
const uuid = "0198f3d2-7c1a-7b44-9c55-ffffffffffff"

const endpoints = Object.values(Api.groups).flatMap((group) =>
  Object.values(group.endpoints).map(({ method, path }) => ({ method: String(method), path: String(path) }))
)

/** Every call of people and keys that names something, with the last id of its path to be filled in. */
const calls = endpoints.flatMap(({ method, path }) => {
  const last = /.*:(\w+_id)/.exec(path)?.[1]
  return last === undefined || path.includes("/proxy/") ? [] : [{ method, path, last }]
})

/** The calls of proxies that name something, with this id of an endpoint or a project. */
const proxyCalls = {
  "/v1/proxy/resolve": (endpoint_id) => ({ endpoint_id, role: endpoint_id }),
  "/v1/proxy/cancels": () => ({ key_hash: "0".repeat(64), client_address: "192.0.2.1" }),
  "/v1/proxy/allowlists": (id) => ({ project_ids: [id] }),
  "/v1/proxy/endpoints/:endpoint_id/wake": () => ({ client_address: "192.0.2.1" }),
  "/v1/proxy/activity": (endpoint_id) => ({
    proxy_id: "p-1",
    sequence: 1,
    endpoints: [{ endpoint_id, generation: 1, connections: 1, busy: 0, idle_ms: 0 }]
  }),
  "/v1/proxy/refusals": (endpoint_id) => ({
    proxy_id: "p-1",
    sequence: 1,
    refusals: [{ endpoint_id, address: "192.0.2.1", reason: "address_not_listed", count: 1, first_ms: 0, last_ms: 0 }]
  })
} satisfies Record<string, (id: string) => unknown>

const overPostgres = apiOver(PostgresStorage.layer.pipe(Layer.provide(testDatabase)))

/** On Postgres only the forms that it refuses to compare with. */
for (const [storage, api, forms] of [
  ...someServings().map((serving) => [`memory, ${serving}`, memoryApi({ serving }), formsOver(serving)] as const),
  ["Postgres", overPostgres, ["%00", "prj-%00x"]]
] as const)
  layer(api, { excludeTestServices: true, timeout: "60 seconds" })(`ids over ${storage}`, (it) => {
    it.effect("a malformed id in a path answers exactly like an unknown one, on every call", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const place = yield* project(who)
        const known: Record<string, string> = { project_id: place.id, org_id: who.org_id }
        for (const { last, method, path } of calls) {
          const to = (id: string) =>
            path.replace(/:(\w+)/g, (_, name: string) => (name === last ? id : (known[name] ?? "x")))
          const sent = { headers: { "x-request-id": "same" }, body: method === "GET" ? undefined : { nonsense: true } }
          const unknown = yield* who.call(method, to(invented[last] ?? uuid), sent)
          refused(unknown, 404, "not_found")
          for (const id of forms)
            assert.strictEqual(bytes(yield* who.call(method, to(id), sent)), bytes(unknown), `${method} ${to(id)}`)
        }
      })
    )

    it.effect("a malformed id in a call of a proxy, in its path or its body, answers exactly like an unknown one", () =>
      Effect.gen(function* () {
        const named = endpoints.filter(({ method, path }) => path.startsWith("/v1/proxy/") && method === "POST")
        assert.sameMembers(
          named.map(({ path }) => path),
          Object.keys(proxyCalls)
        )
        for (const [path, body] of Object.entries(proxyCalls)) {
          const inPath = path.includes(":")
          const ask = (id: string) =>
            call("POST", path.replace(":endpoint_id", id), {
              token: proxyToken,
              body: body(id),
              headers: { "x-request-id": "same" }
            })
          const unknown = yield* ask(invented["endpoint_id"] ?? "")
          const expected = {
            "/v1/proxy/allowlists": 200,
            "/v1/proxy/cancels": 204,
            "/v1/proxy/activity": 204,
            "/v1/proxy/refusals": 204
          }
          assert.strictEqual(unknown.status, new Map(Object.entries(expected)).get(path) ?? 404, unknown.text)
          for (const id of inPath ? forms : ["", "not-an-id", "\u0000", "ep-\u0000x", "ep-\ud800", "x".repeat(5000)])
            assert.strictEqual(bytes(yield* ask(id)), bytes(unknown), `${path} ${JSON.stringify(id)}`)
        }
      })
    )

    it.effect("foreign, invented and malformed ids in bodies are one 422 that names the member", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const place = yield* project(who)
        const sibling = yield* project(who)
        const stranger = yield* arrive()
        const theirs = yield* project(stranger)
        const bodies: ReadonlyArray<readonly [path: string, member: string, make: (id: string) => unknown]> = [
          [`${place.path}/branches`, "parent_id", (parent_id) => ({ parent_id })],
          [`${place.path}/sandboxes`, "parent_id", (parent_id) => ({ parent_id })],
          [`${place.path}/endpoints`, "branch_id", (branch_id) => ({ branch_id })]
        ]
        for (const [path, member, make] of bodies) {
          const answers = yield* Effect.forEach(
            [
              sibling.main,
              theirs.main,
              invented["branch_id"],
              "not-an-id",
              "",
              "x".repeat(5000),
              "\u0000",
              "br-\ud800"
            ],
            (id) => who.call("POST", path, { body: make(id ?? ""), headers: { "x-request-id": "same" } })
          )
          for (const answer of answers) {
            refused(answer, 422, "invalid_request")
            assert.deepStrictEqual(named(answer), [member])
            assert.strictEqual(bytes(answer), bytes(answers[0] ?? answer))
          }
        }
        const scopes = [theirs.id, invented["project_id"], "not-an-id", "", "\u0000", "prj-\udc00"].flatMap(
          (project_id) => [{ type: "project", project_id }, `project:${project_id}`]
        )
        for (const scope of scopes) {
          const answer = yield* who.call("POST", "/v1/api-keys", { body: { name: "k", scope } })
          refused(answer, 422, "invalid_request")
          assert.deepStrictEqual(named(answer), ["scope.project_id"])
        }
        for (const scope of [
          { type: "branch", project_id: place.id, branch_id: theirs.main },
          { type: "branch", project_id: place.id, branch_id: "not-an-id" },
          { type: "branch", project_id: place.id, branch_id: "\u0000" },
          { type: "branch", project_id: "\u0000", branch_id: "\ud800" },
          `branch:${theirs.main}`,
          "branch:"
        ])
          assert.deepStrictEqual(named(yield* who.call("POST", "/v1/api-keys", { body: { name: "k", scope } })), [
            "scope.branch_id"
          ])
      })
    )

    it.effect("an organization, a session, and a member that storage cannot hold answer like unknown ones", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        for (const org_id of ["\u0000", "\ud800", "0198\u0000"])
          refused(yield* who.call("POST", "/v1/auth/switch-org", { body: { org_id } }), 403, "not_a_member")
        refused(yield* who.call("DELETE", "/v1/auth/sessions/%00"), 404, "not_found")
        refused(yield* who.call("GET", "/v1/events/history?after=%00"), 422, "invalid_request")
      })
    )

    it.effect("a narrowed key is held to its scope in bodies as well", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const place = yield* project(who)
        const sibling = yield* project(who)
        const narrow = yield* key(who, { scope: { type: "project", project_id: place.id } })
        const body = { branch_id: sibling.main }
        refused(yield* narrow.call("POST", `${place.path}/endpoints`, { body }), 422, "invalid_request")
        refused(yield* narrow.call("POST", `${sibling.path}/endpoints`, { body }), 403, "scope_insufficient")
      })
    )
  })

const pages = Effect.fnUntraced(function* (who: Caller, path: string, list: string) {
  const found: Array<string> = []
  let next: string | null = null
  do {
    const cursor: string = next === null ? "" : `&cursor=${next}`
    const { body, status } = yield* who.call("GET", `${path}?limit=2${cursor}`)
    assert.strictEqual(status, 200)
    assert.isAtMost(body[list].length, 2)
    found.push(...body[list].map((item: { id?: string; user_id?: string }) => item.id ?? item.user_id))
    next = body.pagination.next_cursor
  } while (next !== null)
  return found
})

for (const serving of someServings())
  layer(memoryApi({ serving }), { excludeTestServices: true })("lists", (it) => {
    it.effect(
      "lists come in pages, newest first (organizations oldest first), each item once; limit is 1 to 1,000, cursors are opaque",
      () =>
        Effect.gen(function* () {
          const who = yield* founder()
          const place = yield* project(who)
          for (const name of ["b1", "b2", "b3", "b4"]) yield* branch(who, place, { name, endpoint: true })
          for (const name of ["p2", "p3"]) yield* who.call("POST", "/v1/projects", { body: { name } })
          for (const name of ["k1", "k2", "k3"]) yield* key(who, { name })
          for (const email of ["a@example.com", "b@example.com", "c@example.com"])
            yield* who.call("POST", `/v1/orgs/${who.org_id}/invitations`, { body: { email } })
          for (const role of ["admin", "member", "viewer"]) yield* joined(who, role)
          for (const name of ["t1", "t2", "t3"]) yield* who.call("POST", "/v1/orgs", { body: { name } })
          const oldestFirst = ["/v1/orgs"]
          const lists: ReadonlyArray<readonly [string, string, number]> = [
            ["/v1/projects", "projects", 3],
            [`${place.path}/branches`, "branches", 5],
            [`${place.path}/endpoints`, "endpoints", 5],
            [`${place.path}/operations`, "operations", 5],
            ["/v1/api-keys", "api_keys", 3],
            [`/v1/orgs/${who.org_id}/invitations`, "invitations", 6],
            [`/v1/orgs/${who.org_id}/members`, "members", 4],
            ["/v1/orgs", "organizations", 5]
          ]
          for (const [path, list, count] of lists) {
            const whole = yield* who.call("GET", path)
            assert.isNull(whole.body.pagination.next_cursor)
            const ids = whole.body[list].map((item: { id?: string; user_id?: string }) => item.id ?? item.user_id)
            assert.strictEqual(ids.length, count, path)
            assert.deepStrictEqual(yield* pages(who, path, list), ids, path)
            const born = whole.body[list].map(
              (item: { created_at?: string; joined_at?: string }) => item.created_at ?? ""
            )
            const sorted = oldestFirst.includes(path) ? born.toSorted() : born.toSorted().toReversed()
            assert.deepStrictEqual(born, sorted, path)
            for (const limit of ["0", "1001", "-1", "1.5", "x", ""])
              refused(yield* who.call("GET", `${path}?limit=${limit}`), 422, "invalid_request")
            for (const limit of ["1", "1000"])
              assert.strictEqual((yield* who.call("GET", `${path}?limit=${limit}`)).status, 200)
            for (const cursor of ["x", "", "eyJhIjoxfQ", "%00", place.id])
              refused(yield* who.call("GET", `${path}?cursor=${cursor}`), 400, "malformed_request")
          }
        })
    )

    it.effect("reads that a client may combine with a stream carry Events-Cursor", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const place = yield* project(who)
        for (const path of ["/v1/projects", place.path, `${place.path}/branches`, `${place.path}/operations`]) {
          const answer = yield* who.call("GET", path)
          assert.match(answer.headers["events-cursor"] ?? "", /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/, path)
        }
      })
    )
  })
