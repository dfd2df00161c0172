/** Parts of an answer that the query asks for: nothing that the caller could not read with other calls. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Ahead, memoryApi } from "../support/apiOver.ts"
import { address, arrive, branch, founder, joined, key, project, refused, withToken } from "../support/story.ts"

const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

layer(memoryApi(), { excludeTestServices: true })("overviews", (it) => {
  it.effect(
    "GET account, 200: the person, the organizations with roles, what waits; projects where they are included",
    () =>
      Effect.gen(function* () {
        const [owner, inviting] = [yield* founder(), yield* founder()]
        const shop = yield* project(owner)
        yield* (yield* Ahead).by("1 second")
        const blog = yield* project(owner, "blog")
        const invited = { email: owner.email, role: "viewer" }
        yield* inviting.call("POST", `/v1/orgs/${inviting.org_id}/invitations`, { body: invited })
        const { body } = yield* owner.call("GET", "/v1/account")
        const who = (yield* owner.call("GET", "/v1/auth/whoami")).body
        const { organizations } = (yield* owner.call("GET", "/v1/orgs")).body
        assert.deepStrictEqual(body, {
          user: who.user,
          organization: who.organization,
          invited_by: null,
          permissions: who.permissions,
          organizations,
          pending_invitations: 1
        })
        assert.lengthOf(organizations, 2)
        const { projects } = (yield* owner.call("GET", "/v1/account?include=unknown,projects")).body
        assert.deepStrictEqual(projects, [
          { id: blog.id, name: "blog" },
          { id: shop.id, name: "shop" }
        ])
      })
  )

  it.effect("GET account, 403: an API key, and a session whose membership ended", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      refused(yield* (yield* key(owner)).call("GET", "/v1/account"), 403, "session_required")
      const member = yield* joined(owner, "viewer")
      assert.strictEqual((yield* member.call("GET", "/v1/account?include=projects")).status, 200)
      yield* owner.call("DELETE", `/v1/orgs/${owner.org_id}/members/${member.user_id}`)
      refused(yield* member.call("GET", "/v1/account"), 403, "not_a_member")
    })
  )

  it.effect("GET account: a membership that is not confirmed names who invited", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const member = yield* joined(owner, "member")
      const inviter = { id: owner.user_id, email: owner.email, name: null }
      assert.deepStrictEqual((yield* member.call("GET", "/v1/account")).body.invited_by, inviter)
    })
  )

  it.effect(
    "GET overview, 200: each part is what its own list answers, and parts that are not asked for are missing",
    () =>
      Effect.gen(function* () {
        const owner = yield* founder()
        const place = yield* project(owner)
        yield* branch(owner, place, { name: "preview", endpoint: true })
        yield* owner.call("POST", `${place.path}/ip-allow`, { body: { cidr: "203.0.113.0/24" } })
        const read = (path: string) => Effect.map(owner.call("GET", `${place.path}${path}`), ({ body }) => body)
        const { project: record } = yield* read("")
        assert.deepStrictEqual(yield* read("/overview"), { project: record })
        assert.deepStrictEqual(yield* read("/overview?include=unknown"), { project: record })
        const parts = {
          branches: (yield* read("/branches")).branches,
          endpoints: (yield* read("/endpoints")).endpoints,
          operations: (yield* read("/operations?limit=10")).operations,
          ip_allow: yield* read("/ip-allow")
        }
        assert.deepStrictEqual([parts.branches.length, parts.endpoints.length, parts.ip_allow.restricted], [2, 2, true])
        for (const [name, part] of Object.entries(parts))
          assert.deepStrictEqual(yield* read(`/overview?include=${name}`), { project: record, [name]: part })
        assert.deepStrictEqual(yield* read(`/overview?include=${Object.keys(parts).join(",")}`), {
          project: record,
          ...parts
        })
        assert.isString((yield* owner.call("GET", `${place.path}/overview`)).headers["events-cursor"])
      })
  )

  it.effect("GET overview: no more than the newest 10 operations", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const place = yield* project(owner)
      for (let n = 0; n < 10; n++) yield* branch(owner, place)
      const { operations } = (yield* owner.call("GET", `${place.path}/overview?include=operations`)).body
      const newest = (yield* owner.call("GET", `${place.path}/operations?limit=10`)).body.operations
      assert.deepStrictEqual(operations, newest)
      assert.lengthOf(operations, 10)
    })
  )

  it.effect("GET overview: 404 for a project of another organization, 403 for a key that is narrower", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const [place, other] = [yield* project(owner), yield* project(owner, "other")]
      const path = `${place.path}/overview?include=ip_allow`
      refused(yield* (yield* arrive()).call("GET", path), 404, "not_found")
      const narrow = yield* key(owner, { scope: { type: "project", project_id: other.id } })
      refused(yield* narrow.call("GET", path), 403, "scope_insufficient")
      const ofBranch = yield* key(owner, { scope: { type: "branch", project_id: place.id, branch_id: place.main } })
      refused(yield* ofBranch.call("GET", path), 403, "scope_insufficient")
    })
  )

  it.effect("GET projects: with its endpoint each says whether it is up and when it was used, and only then", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const place = yield* project(owner)
      const list = (query: string) =>
        Effect.map(owner.call("GET", `/v1/projects${query}`), ({ body }) => body.projects[0])
      const plain = yield* list("")
      assert.doesNotHaveAnyKeys(plain, ["endpoint", "last_used_at"])
      const { endpoint } = (yield* owner.call("GET", `${place.path}/endpoints/${place.endpoint}`)).body
      assert.deepStrictEqual(yield* list("?include=endpoint"), { ...plain, endpoint, last_used_at: null })
      yield* owner.call("POST", `${place.path}/endpoints/${place.endpoint}/start`)
      const started = yield* Effect.repeat(list("?include=endpoint"), {
        until: (it) => it.endpoint.current_state === "active",
        times: 1_000
      })
      assert.match(started.last_used_at ?? "", at)
      yield* owner.call("DELETE", `${place.path}/endpoints/${place.endpoint}`)
      const without = yield* list("?include=endpoint")
      assert.deepStrictEqual([without.endpoint, without.last_used_at], [null, null])
    })
  )

  it.effect("GET projects: with its branches each says how many there are and their size, and only then", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const place = yield* project(owner)
      const list = (query: string) =>
        Effect.map(owner.call("GET", `/v1/projects${query}`), ({ body }) => body.projects[0])
      const plain = yield* list("?include=nothing")
      assert.doesNotHaveAnyKeys(plain, ["endpoint", "branches_count", "size_bytes"])
      yield* branch(owner, place, { name: "preview" })
      const included = yield* list("?include=branches")
      assert.deepStrictEqual(included, { ...plain, branches_count: 2, size_bytes: included.size_bytes })
      assert.doesNotHaveAnyKeys(yield* list("?include=endpoint"), ["branches_count", "size_bytes"])
      assert.containsAllKeys(yield* list("?include=endpoint,branches"), ["endpoint", "branches_count", "size_bytes"])
    })
  )

  it.effect("GET projects: a branch key sees the endpoint of its branch and no other", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const place = yield* project(owner)
      const made = yield* branch(owner, place, { name: "preview" })
      const narrow = yield* key(owner, { scope: { type: "branch", project_id: place.id, branch_id: made.branch.id } })
      const seen = (yield* narrow.call("GET", "/v1/projects?include=endpoint,branches")).body.projects
      assert.deepStrictEqual(
        seen.map(({ branches_count, endpoint, id }: { id: string; endpoint: unknown; branches_count: number }) => [
          id,
          endpoint,
          branches_count
        ]),
        [[place.id, null, 1]]
      )
    })
  )

  it.effect("GET history: the names of what the events mention, deleted or not", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const place = yield* project(owner)
      const { branch: preview } = yield* branch(owner, place, { name: "preview" })
      const gone = yield* branch(owner, place, { name: "gone" })
      yield* owner.call("DELETE", `${place.path}/branches/${gone.branch.id}`)
      const names = (path: string, by = owner) =>
        Effect.map(by.call("GET", `${path}?order=desc&include=names`), ({ body }) => body.names)
      const branches = [
        { id: gone.branch.id, name: "gone", parent_id: place.main },
        { id: preview.id, name: "preview", parent_id: place.main },
        { id: place.main, name: "main", parent_id: null }
      ]
      const projects = [{ id: place.id, name: "shop", deleted: false }]
      const people = [{ id: owner.user_id, email: owner.email, name: null }]
      assert.deepStrictEqual(yield* names("/v1/events/history"), { projects, branches, people })
      const ofProject = `${place.path}/events/history`
      assert.deepStrictEqual(yield* names(ofProject), { projects, branches, people })
      assert.notProperty((yield* owner.call("GET", ofProject)).body, "names")
      const narrow = yield* key(owner, { scope: { type: "project", project_id: place.id } })
      assert.deepStrictEqual(yield* names(ofProject, narrow), { projects, branches, people: [] }, "it lists no members")
      const wide = yield* key(owner, { capability: "read" })
      assert.deepStrictEqual(yield* names("/v1/events/history", wide), { projects, branches, people })
      yield* owner.call("DELETE", place.path)
      const after = { projects: [{ id: place.id, name: "shop", deleted: true }], branches, people }
      assert.deepStrictEqual(yield* names("/v1/events/history"), after)
    })
  )

  it.effect(
    "GET history: a page of one event names the parent of its branch, which no event of the page mentions",
    () =>
      Effect.gen(function* () {
        const owner = yield* founder()
        const place = yield* project(owner)
        const { branch: preview } = yield* branch(owner, place, { name: "preview" })
        const answer = yield* owner.call("GET", "/v1/events/history?order=desc&limit=1&include=names")
        assert.lengthOf(answer.body.events, 1)
        assert.deepStrictEqual(
          answer.body.names.branches.map(({ name }: { name: string }) => name),
          ["preview", "main"]
        )
        assert.isString(preview.id)
      })
  )

  it.effect("no name of another organization is answered", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* founder(), yield* founder()]
      yield* project(one, "secret")
      const account = yield* two.call("GET", "/v1/account?include=projects")
      const history = yield* two.call("GET", "/v1/events/history?include=names")
      for (const { text } of [account, history]) assert.notInclude(text, "secret")
      assert.strictEqual((yield* withToken(two, one.token).call("GET", "/v1/account")).body.user.email, one.email)
    })
  )

  it.effect("a pending invitation is counted until the person decides", () =>
    Effect.gen(function* () {
      const [owner, email] = [yield* founder(), address()]
      const who = yield* arrive(email)
      const count = Effect.map(who.call("GET", "/v1/account"), ({ body }): number => body.pending_invitations)
      assert.strictEqual(yield* count, 0)
      const made = yield* owner.call("POST", `/v1/orgs/${owner.org_id}/invitations`, { body: { email } })
      assert.strictEqual(yield* count, 1)
      yield* who.call("POST", `/v1/invitations/${made.body.invitation.id}/decline`)
      assert.strictEqual(yield* count, 0)
    })
  )
})
