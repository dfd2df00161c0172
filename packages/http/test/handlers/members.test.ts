/** Members of bodies: unknown ones, `null`, white space and lengths (docs/design/api.md, Requests). */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { idToken, memoryApi } from "../support/apiOver.ts"
import { branch, founder, joined, key, named, project, refused } from "../support/story.ts"
import { call } from "../support/wire.ts"

const authorization = {
  redirect_uri: "http://127.0.0.1:43210/callback",
  state: "s".repeat(22),
  code_challenge: "c".repeat(43),
  name: "laptop"
}

layer(memoryApi(), { excludeTestServices: true })("members of bodies", (it) => {
  it.effect("unknown members are refused where ignoring one could grant something, and nothing is changed", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const other = yield* joined(who, "viewer")
      const place = yield* project(who)
      const child = yield* branch(who, place, { name: "child", endpoint: true })
      const own = `${place.path}/branches/${child.branch.id}`
      const org = `/v1/orgs/${who.org_id}`
      const strict: ReadonlyArray<readonly [method: string, path: string, body: Record<string, unknown>]> = [
        ["POST", "/v1/api-keys", { name: "k" }],
        ["POST", "/v1/api-keys/", { name: "k" }],
        ["POST", "/v1/cli/authorizations", authorization],
        ["POST", `${own}/credentials`, { access: "read_only" }],
        ["POST", `${place.path}/sandboxes`, {}],
        ["POST", `${place.path}/ip-allow`, { cidr: "10.0.0.0/8" }],
        ["POST", `${org}/invitations`, { email: "guest@example.com" }],
        ["PATCH", org, { name: "renamed" }],
        ["PATCH", `${org}/members/${other.user_id}`, { role: "admin" }],
        ["PATCH", place.path, { name: "renamed" }],
        ["PATCH", own, { name: "renamed" }],
        ["PATCH", `${place.path}/endpoints/${child.endpoint?.id}`, { disabled: true }]
      ]
      for (const [method, path, body] of strict) {
        const answer = yield* who.call(method, path, { body: { ...body, surprise: 1 } })
        refused(answer, 422, "invalid_request")
        assert.deepStrictEqual(named(answer), ["surprise"], `${method} ${path}`)
      }
      assert.deepStrictEqual((yield* who.call("GET", "/v1/api-keys")).body.api_keys, [])
      assert.deepStrictEqual((yield* who.call("GET", `${place.path}/ip-allow`)).body.rules, [])
      assert.strictEqual((yield* who.call("GET", place.path)).body.project.name, "shop")
      assert.strictEqual((yield* who.call("GET", own)).body.branch.name, "child")
      assert.strictEqual((yield* who.call("GET", org)).body.organization.name, "Team")
      const guests = (yield* who.call("GET", `${org}/invitations`)).body.invitations
      assert.deepStrictEqual(
        guests.map((it: { status: string }) => it.status),
        ["accepted"]
      )
      const roles = (yield* who.call("GET", `${org}/members`)).body.members.map((it: { role: string }) => it.role)
      assert.sameMembers(roles, ["owner", "viewer"])
      assert.strictEqual((yield* who.call("GET", `${place.path}/branches`)).body.branches.length, 2)
      const left = yield* who.call("GET", `${place.path}/endpoints/${child.endpoint?.id}`)
      assert.isFalse(left.body.endpoint.disabled)
    })
  )

  it.effect("a scope with an unknown member grants nothing", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const { id } = yield* project(who)
      const scope = { type: "project", project_id: id, branch: "main" }
      refused(yield* who.call("POST", "/v1/api-keys", { body: { name: "k", scope } }), 422, "invalid_request")
    })
  )

  it.effect("unknown members and query parameters are ignored where they can grant nothing", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const made = yield* who.call("POST", "/v1/projects?x=1", { body: { name: "p", surprise: 1 } })
      assert.strictEqual(made.status, 201)
      const place = yield* project(who)
      const lenient: ReadonlyArray<readonly [string, unknown]> = [
        ["/v1/orgs", { name: "o", surprise: 1 }],
        [`${place.path}/branches`, { surprise: 1 }],
        [`${place.path}/endpoints`, { branch_id: place.main, surprise: 1 }]
      ]
      for (const [path, body] of lenient)
        assert.strictEqual((yield* who.call("POST", path, { body })).status, 201, path)
      const mine = yield* key(who)
      const rotated = yield* who.call("POST", `/v1/api-keys/${mine.id}/rotate`, { body: { surprise: 1 } })
      assert.strictEqual(rotated.status, 201)
      const body = { id_token: idToken(who.email), surprise: 1 }
      assert.strictEqual((yield* call("POST", "/v1/auth/exchange", { body })).status, 200)
      assert.strictEqual((yield* who.call("GET", "/v1/projects?surprise=1&limit=1")).status, 200)
    })
  )

  it.effect("an explicit null means that an optional member was left out", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      const child = yield* branch(who, place, { endpoint: true })
      const own = `${place.path}/branches/${child.branch.id}`
      const bodies: ReadonlyArray<readonly [string, string, unknown, number]> = [
        ["POST", "/v1/projects", { name: "p", region: null, region_id: null }, 201],
        ["POST", "/v1/api-keys", { name: "k", capability: null, scope: null, expires_in_days: null }, 201],
        ["POST", "/v1/cli/authorizations", { ...authorization, code_challenge_method: null, capability: null }, 201],
        ["POST", `${place.path}/branches`, { name: null, parent_id: null, protected: null, ttl_seconds: null }, 201],
        ["POST", `${place.path}/sandboxes`, { parent_id: null, ttl_seconds: null, name: null }, 201],
        ["POST", `${place.path}/endpoints`, { branch_id: place.main, type: null, suspend_timeout_seconds: null }, 201],
        ["POST", `${own}/credentials`, { access: "read_only", ttl_seconds: null }, 201],
        ["POST", `${place.path}/ip-allow`, { cidr: "10.0.0.0/8", label: null, ttl_seconds: null }, 201],
        ["POST", `/v1/orgs/${who.org_id}/invitations`, { email: "n@example.com", role: null }, 201],
        ["PATCH", place.path, { name: "renamed", region: null, region_id: null }, 200],
        ["PATCH", own, { name: null, protected: null }, 200],
        ["PATCH", `${place.path}/endpoints/${child.endpoint?.id}`, { disabled: null }, 200]
      ]
      for (const [method, path, body, status] of bodies) {
        const answer = yield* who.call(method, path, { body })
        assert.strictEqual(answer.status, status, `${method} ${path}: ${answer.text}`)
      }
      const kept = (yield* who.call("GET", own)).body.branch
      assert.deepStrictEqual([kept.name, kept.protected], [child.branch.name, false])
      refused(yield* who.call("POST", "/v1/projects", { body: { name: null } }), 422, "invalid_request")
    })
  )

  it.effect("names are trimmed, and counted in code points afterwards", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const duck = "🦆"
      const named201 = Effect.fnUntraced(function* (path: string, noun: string, longest: number) {
        const full = duck.repeat(longest)
        const made = yield* who.call("POST", path, { body: { name: `  ${full}\n` } })
        assert.deepStrictEqual([made.status, made.body[noun]?.name], [201, full], made.text)
        for (const name of [`${full}x`, "", "   ", "a\u0000b", "a\u001bb", "a\u007fb", 5, ["x"]])
          refused(yield* who.call("POST", path, { body: { name } }), 422, "invalid_request")
        refused(yield* who.call("POST", path, { raw: '{"name":"\\ud800"}' }), 422, "invalid_request")
      })
      yield* named201("/v1/projects", "project", 128)
      yield* named201("/v1/orgs", "organization", 128)
      yield* named201("/v1/api-keys", "api_key", 64)
      const twice = yield* who.call("POST", "/v1/projects", { body: { name: duck.repeat(128) } })
      assert.strictEqual(twice.status, 201, "names are not unique")
    })
  )

  it.effect("branch names: 1 to 63 of their alphabet; labels: up to 256 code points, empty when left out", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const { path } = yield* project(who)
      for (const name of ["a", " Feature/x_1.2-3 ", "b".repeat(63)]) {
        const made = yield* who.call("POST", `${path}/branches`, { body: { name } })
        assert.deepStrictEqual([made.status, made.body.branch?.name], [201, name.trim()], made.text)
      }
      for (const name of ["b".repeat(64), "1a", "-a", "a b", "ä", ""])
        refused(yield* who.call("POST", `${path}/branches`, { body: { name } }), 422, "invalid_request")
      const label = "🦆".repeat(256)
      const listed = yield* who.call("POST", `${path}/ip-allow`, { body: { cidr: "10.0.0.0/8", label: ` ${label} ` } })
      assert.strictEqual(listed.body.label, label)
      const plain = yield* who.call("POST", `${path}/ip-allow`, { body: { cidr: "11.0.0.0/8" } })
      assert.strictEqual(plain.body.label, "")
      const long = { cidr: "12.0.0.0/8", label: `${label}x` }
      refused(yield* who.call("POST", `${path}/ip-allow`, { body: long }), 422, "invalid_request")
    })
  )
})
