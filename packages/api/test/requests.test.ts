import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { call } from "./echoServer.ts"

const project = "/v1/projects/prj-1"
const branches = `${project}/branches`
const ipAllow = `${project}/ip-allow`

const decoded = (method: string, path: string, body?: unknown) =>
  Effect.map(call(method, path, body), ({ body: answer, status }) => {
    assert.strictEqual(status, 200, JSON.stringify(answer))
    return answer
  })

const payload = (method: string, path: string, body?: unknown) =>
  Effect.map(decoded(method, path, body), (answer) => answer["payload"])

/** Refused as 422, naming these members. */
const refused = (method: string, path: string, body: unknown, ...paths: ReadonlyArray<ReadonlyArray<string>>) =>
  Effect.map(call(method, path, body), ({ body: answer, status }) => {
    assert.strictEqual(status, 422, JSON.stringify(answer))
    assert.strictEqual(answer["code"], "invalid_request")
    const errors = answer["errors"] as ReadonlyArray<{ readonly path: ReadonlyArray<string> }>
    assert.deepStrictEqual(
      errors.map((error) => error.path),
      paths
    )
  })

describe("the order of answers", () => {
  it.effect("a missing credential is answered before an invalid body", () =>
    Effect.gen(function* () {
      const { body, status } = yield* call("POST", branches, "{", null)
      assert.deepStrictEqual([status, body["code"]], [401, "unauthenticated"])
    })
  )
  it.effect("an unknown project is answered before an invalid body and query", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* call("POST", "/v1/projects/gone/ip-allow", { cidr: 1 })).status, 404)
      assert.strictEqual((yield* call("GET", "/v1/projects/gone/branches?limit=0")).status, 404)
    })
  )
})

describe("bodies", () => {
  it.effect("a body that is not JSON is 400, and JSON of another type than an object is 422", () =>
    Effect.gen(function* () {
      const { body, status } = yield* call("POST", ipAllow, "{")
      assert.deepStrictEqual([status, body["code"]], [400, "malformed_request"])
      yield* refused("POST", ipAllow, [], [])
      yield* refused("POST", ipAllow, undefined, [])
    })
  )
  it.effect("the last of several members of a body with one name counts", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* payload("POST", ipAllow, '{"cidr":"a","cidr":"b"}'), { cidr: "b" })
    })
  )
  it.effect("null for an optional member means left out", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* payload("POST", ipAllow, { cidr: "c", label: null, ttl_seconds: null }), {
        cidr: "c"
      })
      assert.deepStrictEqual(yield* payload("POST", "/v1/projects", { name: "n", region: null }), { name: "n" })
    })
  )
  it.effect("null for a branch's ttl_seconds means that it never expires", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* payload("PATCH", `${branches}/b`, { ttl_seconds: null, name: null }), {
        ttl_seconds: null
      })
    })
  )
  it.effect("a body of optional members may be missing", () =>
    Effect.gen(function* () {
      for (const path of [branches, `${project}/sandboxes`, "/v1/api-keys/k/rotate"])
        assert.deepStrictEqual(yield* payload("POST", path), {})
    })
  )
  it.effect("calls without input ignore the body", () =>
    Effect.gen(function* () {
      for (const path of ["/v1/auth/refresh", "/v1/auth/logout", `${branches}/b/reset`, `${branches}/b/set-default`])
        assert.strictEqual((yield* call("POST", path, "{")).status, 200)
    })
  )

  const granting: ReadonlyArray<readonly [string, string, object]> = [
    ["POST", "/v1/api-keys/", { name: "k" }],
    ["POST", "/v1/api-keys", { name: "k" }],
    [
      "POST",
      "/v1/cli/authorizations",
      {
        redirect_uri: "http://127.0.0.1:4000/callback",
        state: "s".repeat(22),
        code_challenge: "c".repeat(43),
        name: "laptop"
      }
    ],
    ["POST", `${branches}/b/credentials`, { access: "read_only" }],
    ["POST", `${project}/sandboxes`, {}],
    ["POST", ipAllow, { cidr: "10.0.0.0/8" }],
    ["POST", "/v1/orgs/o/invitations", { email: "ada@example.com" }],
    ["PATCH", project, { name: "n" }],
    ["PATCH", `${branches}/b`, {}],
    ["PATCH", `${project}/endpoints/e`, {}],
    ["PATCH", "/v1/orgs/o", { name: "n" }],
    ["PATCH", "/v1/orgs/o/members/u", { role: "member" }]
  ]
  for (const [method, path, body] of granting) {
    it.effect(`${method} ${path} refuses unknown members and names all of them`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* payload(method, path, body), body)
        yield* refused(method, path, { ...body, zeta: 1, eta: null }, ["zeta"], ["eta"])
      })
    )
  }
  const harmless: ReadonlyArray<readonly [string, object]> = [
    ["/v1/projects", { name: "n" }],
    [branches, { name: "n" }],
    [`${project}/endpoints`, { branch_id: "br" }],
    ["/v1/orgs", { name: "n" }],
    ["/v1/auth/exchange", { id_token: "t" }],
    ["/v1/auth/switch-org", { org_id: "o" }],
    ["/v1/api-keys/k/rotate", { grace_seconds: 0 }]
  ]
  for (const [path, body] of harmless) {
    it.effect(`POST ${path} ignores unknown members`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* payload("POST", path, { ...body, zeta: 1 }), body)
      })
    )
  }
})

describe("members", () => {
  const family = "👩‍👩‍👧" // five code points
  it.effect("names are trimmed and counted in code points", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* payload("POST", "/v1/projects", { name: ` ${"é".repeat(128)}\t` }), {
        name: "é".repeat(128)
      })
      assert.deepStrictEqual(yield* payload("POST", "/v1/api-keys", { name: family.repeat(12) }), {
        name: family.repeat(12)
      })
      yield* refused("POST", "/v1/api-keys", { name: family.repeat(13) }, ["name"])
      for (const name of ["", "  ", "x".repeat(129), "a\nb", "a\u0000", "\ud800"])
        yield* refused("POST", "/v1/projects", { name }, ["name"])
      yield* refused("POST", "/v1/api-keys", { name: "x".repeat(65) }, ["name"])
    })
  )
  it.effect("branch names must match their pattern", () =>
    Effect.gen(function* () {
      for (const name of ["main", "a/b.c_d-1", "x".repeat(63)])
        assert.deepStrictEqual(yield* payload("POST", branches, { name }), { name })
      for (const name of ["1a", "-a", "a b", "ä", "x".repeat(64), "a\n b"])
        assert.strictEqual((yield* call("POST", branches, { name })).status, 422, name)
    })
  )
  it.effect("labels may be empty and have at most 256 characters", () =>
    Effect.gen(function* () {
      for (const label of ["", family.repeat(51)])
        assert.deepStrictEqual(yield* payload("POST", ipAllow, { cidr: "c", label }), { cidr: "c", label })
      for (const label of ["x".repeat(257), "a\u0000b"])
        yield* refused("POST", ipAllow, { cidr: "c", label }, ["label"])
    })
  )
  const bounds: ReadonlyArray<readonly [string, string, object, string, number, number]> = [
    ["POST", "/v1/api-keys", { name: "k" }, "expires_in_days", 1, 3650],
    ["POST", "/v1/api-keys/k/rotate", {}, "grace_seconds", 0, 86_400],
    ["POST", ipAllow, { cidr: "c" }, "ttl_seconds", 1, 315_360_000],
    ["POST", `${project}/sandboxes`, {}, "ttl_seconds", 1, 86_400],
    ["PATCH", `${project}/endpoints/e`, {}, "suspend_timeout_seconds", -1, 604_800]
  ]
  for (const [method, path, body, member, least, most] of bounds) {
    it.effect(`${member} of ${method} ${path} is a whole number from ${least} to ${most}`, () =>
      Effect.gen(function* () {
        for (const value of [least, most])
          assert.deepStrictEqual(yield* payload(method, path, { ...body, [member]: value }), {
            ...body,
            [member]: value
          })
        for (const value of [least - 1, most + 1, 1.5, "1", true])
          yield* refused(method, path, { ...body, [member]: value }, [member])
      })
    )
  }
  it.effect("a suspend timeout of 0 is refused", () =>
    refused("PATCH", `${project}/endpoints/e`, { suspend_timeout_seconds: 0 }, ["suspend_timeout_seconds"])
  )
  it.effect("ids in bodies are not validated, so that each wrong one gets the same answer", () =>
    Effect.gen(function* () {
      for (const branch_id of ["", "..", "br-1"])
        assert.deepStrictEqual(yield* payload("POST", `${project}/endpoints`, { branch_id }), { branch_id })
      assert.deepStrictEqual(yield* payload("POST", "/v1/auth/switch-org", { org_id: "" }), { org_id: "" })
      yield* refused("POST", "/v1/auth/switch-org", {}, ["org_id"])
    })
  )
  it.effect("invitations need the name of a role and an email address", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* payload("POST", "/v1/orgs/o/invitations", { email: " a@b.example ", role: null }), {
        email: "a@b.example"
      })
      yield* refused("POST", "/v1/orgs/o/invitations", { email: "a@b.example", role: "King" }, ["role"])
      yield* refused("POST", "/v1/orgs/o/invitations", { email: "nobody" }, ["email"])
      yield* refused("PATCH", "/v1/orgs/o/members/u", { role: "a king" }, ["role"])
    })
  )
  it.effect("an exchange needs an id token that is text", () =>
    Effect.gen(function* () {
      yield* refused("POST", "/v1/auth/exchange", {}, ["id_token"])
      yield* refused("POST", "/v1/auth/exchange", { id_token: 7 }, ["id_token"])
    })
  )
  it.effect("a CLI code may be missing or of any type: the handler answers all alike", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* payload("POST", "/v1/cli/exchange", { code: 7, redirect_uri: "u" }), {
        redirect_uri: "u"
      })
      assert.deepStrictEqual(yield* payload("POST", "/v1/credentials/report", {}), {})
    })
  )
})
