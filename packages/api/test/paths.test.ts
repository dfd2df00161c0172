import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { call } from "./echoServer.ts"

const project = "/v1/projects/prj-1"
const ipAllow = `${project}/ip-allow`

const called = (method: string, path: string, body?: unknown) =>
  Effect.map(call(method, path, body), ({ body: answer, status }) => [status, answer["called"] ?? answer["code"]])

describe("scopes of keys", () => {
  const scope = (given: unknown) =>
    Effect.map(call("POST", "/v1/api-keys", { name: "k", scope: given }), ({ body, status }) =>
      status === 200 ? (body["payload"] as { readonly scope: unknown }).scope : status
    )

  it.effect("the scope of a key is accepted as an object and as text", () =>
    Effect.gen(function* () {
      const organization = { type: "organization" }
      const branch = { type: "branch", project_id: "p", branch_id: "b" }
      for (const given of [organization, { type: "project", project_id: "p" }, branch])
        assert.deepStrictEqual(yield* scope(given), given)
      assert.deepStrictEqual(yield* scope("organization"), organization)
      assert.deepStrictEqual(yield* scope("project:p"), { type: "project", project_id: "p" })
      assert.deepStrictEqual(yield* scope("branch:b"), { type: "branch", branch_id: "b" })
    })
  )
  it.effect("the scope of a key is refused in every other form", () =>
    Effect.gen(function* () {
      const wrong = ["org", "projects:p", 7, {}, { type: "project" }, { type: "branch", branch_id: "b" }]
      for (const given of [...wrong, { type: "organization", project_id: "p" }, { type: "project", project_id: 1 }])
        assert.strictEqual(yield* scope(given), 422, JSON.stringify(given))
    })
  )
})

describe("regions of projects", () => {
  it.effect("region_id is an alias of region, and two different values are refused", () =>
    Effect.gen(function* () {
      const create = (body: object) => call("POST", "/v1/projects", { name: "n", ...body })
      for (const body of [{ region: "eu" }, { region_id: "eu" }, { region: "eu", region_id: "eu" }])
        assert.deepStrictEqual((yield* create(body)).body["payload"], { name: "n", region: "eu" })
      assert.strictEqual((yield* create({ region: "eu", region_id: "us" })).status, 422)
    })
  )
  it.effect("a change that names a region reaches the handler, with or without a name", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* call("PATCH", project, { region: "eu" })).body["payload"], { region: "eu" })
      assert.deepStrictEqual((yield* call("PATCH", project, { region_id: 7, name: "n" })).body["payload"], {
        region_id: 7,
        name: "n"
      })
      assert.strictEqual((yield* call("PATCH", project, {})).status, 422)
    })
  )
})

describe("paths", () => {
  it.effect("only the collection of keys has a path with a trailing slash", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* called("GET", "/v1/api-keys/"), [200, "list"])
      assert.deepStrictEqual(yield* called("GET", "/v1/api-keys"), [200, "listBare"])
      assert.deepStrictEqual(yield* called("DELETE", "/v1/api-keys/self"), [200, "revokeSelf"])
      for (const path of ["/v1/api-keys/key-1/", `${project}/`, `${project}/branches/br-1/`])
        assert.strictEqual((yield* call("DELETE", path)).status, 404, path)
    })
  )
  it.effect("only the bare path resets the allowlist", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* called("DELETE", ipAllow), [200, "reset"])
      assert.deepStrictEqual(yield* called("DELETE", `${ipAllow}?cidr=10.0.0.0/8`), [422, "invalid_request"])
      assert.deepStrictEqual(yield* called("DELETE", `${ipAllow}?x`), [422, "invalid_request"])
      for (const path of ["/", "//", "/10.0.0.0/", "/10.0.0.0%2F8/", "/."])
        assert.strictEqual((yield* call("DELETE", ipAllow + path)).status, 404, path)
    })
  )
  it.effect("a network in a path is one segment or two", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* call("DELETE", `${ipAllow}/10.0.0.0%2F8`)).body, {
        called: "remove",
        params: { project_id: "prj-1", cidr: "10.0.0.0/8" }
      })
      assert.deepStrictEqual((yield* call("DELETE", `${ipAllow}/2001:db8::/32`)).body, {
        called: "removeSplit",
        params: { project_id: "prj-1", network: "2001:db8::", prefix: "32" }
      })
    })
  )
  it.effect("lists accept a limit of 1 to 1,000 and ignore unknown parameters", () =>
    Effect.gen(function* () {
      const { body } = yield* call("GET", "/v1/projects?limit=1000&cursor=x&page=2")
      assert.deepStrictEqual(body["query"], { limit: 1000, cursor: "x" })
      for (const limit of ["0", "1001", "1.5", "", "x", "1&limit=2"])
        assert.strictEqual((yield* call("GET", `/v1/projects?limit=${limit}`)).status, 422, limit)
    })
  )
  it.effect("a read of an operation waits 1 to 60 seconds", () =>
    Effect.gen(function* () {
      for (const wait of ["1s", "30s", "60s"])
        assert.strictEqual((yield* call("GET", `${project}/operations/o?wait=${wait}`)).status, 200, wait)
      for (const wait of ["0s", "61s", "30", "1m", "-1s"])
        assert.strictEqual((yield* call("GET", `${project}/operations/o?wait=${wait}`)).status, 422, wait)
    })
  )
  it.effect("event history starts after an event id, and streams refuse no Last-Event-ID", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* call("GET", "/v1/events/history?after=01K3Z6V9E8Q0X5M4C2B7N1R0SD")).status, 200)
      for (const after of ["x", "81K3Z6V9E8Q0X5M4C2B7N1R0SD", "01K3Z6V9E8Q0X5M4C2B7N1R0SDA"])
        assert.strictEqual((yield* call("GET", `/v1/events/history?after=${after}`)).status, 422, after)
      assert.deepStrictEqual(yield* called("GET", "/v1/events?bookmarks=yes&types=,"), [200, "stream"])
    })
  )
})
