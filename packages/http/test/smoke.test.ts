import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { call, MemoryApi, signIn, TestApi } from "./support/MemoryApi.ts"

layer(MemoryApi, { excludeTestServices: true })("the API over memory", (it) => {
  it.effect("signs in, makes a project and waits for it", () =>
    Effect.gen(function* () {
      const { url } = yield* TestApi
      const token = yield* signIn("ada@example.com")
      const made = yield* call("POST", "/v1/projects", { token, body: { name: "first" } })
      assert.strictEqual(made.status, 201, JSON.stringify(made.body))
      const [operation] = made.body.operations
      const done = yield* call("GET", `/v1/projects/${made.body.project.id}/operations/${operation.id}?wait=5s`, {
        token
      })
      assert.strictEqual(done.body.operation.status, "finished", JSON.stringify(done.body))
      const key = yield* call("POST", "/v1/api-keys/", { token, body: { name: "ci" } })
      assert.strictEqual(key.status, 201, JSON.stringify(key.body))
      const who = yield* call("GET", "/v1/auth/whoami", { token: key.body.secret })
      assert.strictEqual(who.body.kind, "api_key", JSON.stringify(who.body))
      for (const [method, path, status] of [
        ["GET", "/v1/regions", 200],
        ["GET", "/v1/orgs", 200],
        ["GET", "/nowhere", 404],
        ["PUT", "/v1/projects", 405],
        ["OPTIONS", "/v1/projects", 405],
        ["HEAD", "/v1/projects", 200],
        ["DELETE", `/v1/projects/${made.body.project.id}/ip-allow/`, 404],
        ["DELETE", `/v1/projects/${made.body.project.id}/ip-allow//`, 404],
        ["DELETE", `/v1/projects/${made.body.project.id}/ip-allow?x=1`, 422],
        ["DELETE", `/v1/projects/${made.body.project.id}/ip-allow`, 204],
        ["GET", "/v1/projects/prj-nope", 404],
        ["GET", "/openapi.json", 200],
        ["GET", "/readyz", 200]
      ] as const) {
        const response = yield* Effect.promise(() =>
          fetch(url + path, { method, headers: { authorization: `Bearer ${token}` } })
        )
        assert.strictEqual(response.status, status, `${method} ${path}`)
      }
    })
  )
})
