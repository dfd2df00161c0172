/** Every refusal says what to do next, and does not reveal what exists. */
import { assert, layer } from "@effect/vitest"
import { problemCatalog } from "@narthex/api"
import { layerMemoryPorts, RegionCatalog, StorageError } from "@narthex/core"
import { Effect, Layer } from "effect"
import { silent } from "../../../postgres/test/support/silent.ts"
import { defaultRateLimits } from "../../src/index.ts"
import { apiOver, everyServing, memoryApi } from "../support/apiOver.ts"
import { arrive, founder, key, project, refused } from "../support/story.ts"
import { type Answer, call } from "../support/wire.ts"

const limits = { ...defaultRateLimits, failures_per_minute: 6 }

/** The sentences of a code, which are the `detail` where nothing more may be said. */
const sentences = (code: keyof typeof problemCatalog) => `${problemCatalog[code].title} ${problemCatalog[code].next}`

const says = (answer: Answer, status: number, code: keyof typeof problemCatalog) => {
  refused(answer, status, code)
  assert.strictEqual(answer.body.detail, sentences(code))
}

for (const serving of everyServing)
  layer(memoryApi({ serving }), { excludeTestServices: true })("refusals", (it) => {
    it.effect("a refusal that knows nothing more has the sentences of its code as its detail", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const { path } = yield* project(who)
        const reader = yield* key(who, { capability: "read" })
        says(yield* call("GET", "/v1/regions"), 401, "unauthenticated")
        says(yield* call("GET", "/v1/regions", { token: "x" }), 401, "invalid_token")
        says(yield* call("POST", "/v1/cli/exchange", { body: { code: "x" } }), 401, "invalid_code")
        says(yield* call("GET", "/nowhere"), 404, "not_found")
        says(yield* who.call("GET", "/v1/projects/prj-unknown"), 404, "not_found")
        says(yield* who.call("PUT", "/v1/projects"), 405, "method_not_allowed")
        says(yield* who.call("GET", "/v1/events", { headers: { accept: "text/html" } }), 406, "not_acceptable")
        says(yield* who.call("POST", "/v1/projects", { body: { name: "x".repeat(70_000) } }), 413, "body_too_large")
        const typed = { raw: "a=b", headers: { "content-type": "text/plain" } }
        says(yield* who.call("POST", "/v1/projects", typed), 415, "unsupported_media_type")
        says(yield* reader.call("DELETE", path), 403, "capability_insufficient")
        says(yield* reader.call("POST", "/v1/api-keys", { body: { name: "k" } }), 403, "session_required")
        says(yield* reader.call("POST", "/v1/orgs", { body: { name: "o" } }), 403, "session_required")
      })
    )

    it.effect("Bearer with more than one word, or with a tab, is an invalid credential, not a missing one", () =>
      Effect.gen(function* () {
        const { token } = yield* arrive()
        for (const authorization of ["Bearer nsk_a b", `Bearer\t${token}`, `Bearer ${token} x`, `bearer  a\tb`])
          says(yield* call("GET", "/v1/regions", { headers: { authorization } }), 401, "invalid_token")
        for (const authorization of ["Bearer", "Bearer ", "Basic a b", "Bearertoken"])
          says(yield* call("GET", "/v1/regions", { headers: { authorization } }), 401, "unauthenticated")
      })
    )

    it.effect("every answer forbids browsers to guess its type", () =>
      Effect.gen(function* () {
        const who = yield* arrive()
        for (const path of [
          "/v1/regions",
          "/v1/projects",
          "/v1/events",
          "/nowhere",
          "/livez",
          "/openapi.json",
          "/docs"
        ])
          assert.strictEqual((yield* who.call("GET", path)).headers["x-content-type-options"], "nosniff", path)
      })
    )

    it.effect("the most specific range of Accept decides about a stream", () =>
      Effect.gen(function* () {
        const who = yield* arrive()
        for (const accept of ["text/event-stream;q=0, */*", "*/*, text/event-stream;q=0.0", "text/*;q=0, */*;q=1"])
          refused(yield* who.call("GET", "/v1/events", { headers: { accept } }), 406, "not_acceptable")
        for (const accept of ["*/*;q=0, text/event-stream", "text/*;q=0, text/event-stream;q=0.5", "text/*, */*;q=0"])
          assert.strictEqual((yield* who.call("GET", "/v1/events", { headers: { accept } })).status, 200, accept)
      })
    )

    it.effect("whoami shows the permissions that a key can use", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const place = yield* project(who)
        const permissions = (body: Record<string, unknown>) =>
          Effect.gen(function* () {
            const made = yield* key(who, body)
            return (yield* made.call("GET", "/v1/auth/whoami")).body.permissions
          })
        assert.deepStrictEqual(yield* permissions({ capability: "read" }), ["read", "read_audit"])
        const scope = { type: "branch", project_id: place.id, branch_id: place.main }
        const narrow = ["read", "mint_read_only", "change_projects", "mint_read_write", "manage_credentials"]
        assert.deepStrictEqual(yield* permissions({ scope }), narrow)
        assert.deepStrictEqual(yield* permissions({ capability: "agent" }), narrow)
        assert.include((yield* who.call("GET", "/v1/auth/whoami")).body.permissions, "own_keys")
      })
    )
  })

for (const serving of everyServing)
  layer(memoryApi({ limits, serving, stands: true }), { excludeTestServices: true })("refused credentials", (it) => {
    it.effect("malformed Bearer credentials count as failures, and 429 says when to try again", () =>
      Effect.gen(function* () {
        const attempt = call("GET", "/v1/regions", { headers: { authorization: "Bearer nsk_a b" } })
        const statuses = (yield* Effect.forEach(Array.from({ length: 6 }), () => attempt)).map(({ status }) => status)
        assert.deepStrictEqual(statuses, [401, 401, 401, 401, 401, 401])
        const answer = yield* attempt
        refused(answer, 429, "rate_limited")
        assert.match(answer.body.detail, /^6 calls .* in 60 seconds\. Retry after the time in Retry-After\.$/)
      })
    )
  })

const cause = new Error("the cause, which is for the operator")
const failures = [
  [503, "unavailable", Effect.fail(new StorageError({ operation: "RegionCatalog.active", cause }))],
  [500, "internal", Effect.die(cause)]
] as const

for (const serving of everyServing)
  for (const [status, code, active] of failures) {
    const broken = Layer.effect(
      RegionCatalog,
      Effect.map(RegionCatalog, (catalog) => ({ ...catalog, active }))
    ).pipe(Layer.provideMerge(layerMemoryPorts))
    layer(Layer.provideMerge(apiOver(broken, { serving }), silent), { excludeTestServices: true })("failures", (it) => {
      it.effect(`a failure of the server is a ${status} that says nothing but the sentences of its code`, () =>
        Effect.gen(function* () {
          const who = yield* arrive()
          const answer = yield* who.call("GET", "/v1/regions")
          says(answer, status, code)
          assert.notInclude(JSON.stringify([answer.headers, answer.body]), "the cause")
        })
      )
    })
  }
