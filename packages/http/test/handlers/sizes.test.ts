/** Sizes of endpoints over HTTP. Holds docs/design/api.md A37 and A38. */
import { assert, layer } from "@effect/vitest"
import { defaultQuotas } from "@narthex/core"
import { testSizes } from "@narthex/core/testing"
import { Effect } from "effect"
import { memoryApi } from "../support/apiOver.ts"
import { founder, project, refused, settled } from "../support/story.ts"

const gibibyte = 1024 ** 3
const quotas = { ...defaultQuotas, memory_bytes: 5 * gibibyte }

layer(memoryApi({ sizes: testSizes, quotas }), { excludeTestServices: true })("sizes", (it) => {
  it.effect("GET sizes, 200: the catalog in the operator's order", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const { body, status } = yield* who.call("GET", "/v1/sizes")
      assert.deepStrictEqual([status, body], [200, { sizes: testSizes }])
    })
  )

  it.effect("POST projects and endpoints, 201: with the size that is named, or the default; 422: no such size", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const { endpoint, main, path } = yield* project(who)
      const shown = yield* who.call("GET", `${path}/endpoints/${endpoint}`)
      assert.deepStrictEqual(shown.body.endpoint.size, {
        name: "small",
        cpus: 0.5,
        memory_bytes: gibibyte,
        disk_bytes: 20 * gibibyte
      })
      for (const [at, body] of [
        ["/v1/projects", { name: "shop" }],
        [`${path}/endpoints`, { branch_id: main }]
      ] as const) {
        const made = yield* who.call("POST", at, { body: { ...body, size: " large " } })
        assert.deepStrictEqual([made.status, made.body.endpoint.size.name], [201, "large"])
        const unknown = yield* who.call("POST", at, { body: { ...body, size: "huge" } })
        refused(unknown, 422, "invalid_request")
        assert.deepStrictEqual(unknown.body.errors, [
          { path: ["size"], message: "There is no such size. The sizes are: small, large." }
        ])
      }
    })
  )

  it.effect("PATCH endpoint, 200: a running compute is started again; 422: an unknown size, or beyond the quota", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const { endpoint, main, path } = yield* project(who)
      const at = `${path}/endpoints/${endpoint}`
      const resized = (size: string) => who.call("PATCH", at, { body: { size } })
      yield* settled(who, yield* who.call("POST", `${at}/start`))
      const changed = yield* settled(who, yield* resized("large"))
      const [{ action }] = changed.body.operations
      assert.deepStrictEqual([changed.body.endpoint.size.name, action], ["large", "start_compute"])
      assert.strictEqual((yield* who.call("GET", at)).body.endpoint.current_state, "active")
      assert.notProperty(changed.body.endpoint, "resized")
      const { body } = yield* who.call("GET", `/v1/orgs/${who.org_id}/audit?action=endpoint.changed`)
      assert.deepStrictEqual(body.entries[0].metadata, { disabled: "false", size: "large" })
      refused(yield* resized("huge"), 422, "invalid_request")
      const reader = yield* settled(who, yield* who.call("POST", `${path}/endpoints`, { body: { branch_id: main } }))
      const other = `${path}/endpoints/${reader.body.endpoint.id}`
      yield* settled(who, yield* who.call("POST", `${other}/start`))
      const beyond = yield* who.call("PATCH", other, { body: { size: "large" } })
      refused(beyond, 422, "quota_exceeded")
      assert.deepInclude(beyond.body, { quota: "memory_bytes", held: 5 * gibibyte, allowed: 5 * gibibyte })
      assert.include(beyond.body.detail, "its quota is 5 GiB")
    })
  )
})
