/** Projects and the choice of their region. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { memoryApi } from "../support/apiOver.ts"
import { founder, key, named, project, refused, settled } from "../support/story.ts"

layer(memoryApi(), { excludeTestServices: true })("projects in one region", (it) => {
  it.effect(
    "POST projects, 201: with a default branch main and its suspended read-write endpoint, in one operation",
    () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const made = yield* who.call("POST", "/v1/projects", { body: { name: "shop" } })
        const { branch, endpoint, operations, project: record } = made.body
        assert.strictEqual(made.headers["location"], `/v1/projects/${record.id}`)
        assert.deepStrictEqual(
          [record.name, record.org_id, record.region_id, record.region, record.default_branch_id],
          ["shop", who.org_id, "local", "local", branch.id]
        )
        assert.deepStrictEqual([branch.name, branch.default, branch.region_id], ["main", true, "local"])
        assert.deepStrictEqual(
          [endpoint.branch_id, endpoint.type, endpoint.region_id],
          [branch.id, "read_write", "local"]
        )
        assert.deepStrictEqual(
          operations.map((it: { action: string }) => it.action),
          ["create_timeline"]
        )
        yield* settled(who, made)
        const ready = yield* who.call("GET", `/v1/projects/${record.id}/endpoints/${endpoint.id}`)
        assert.strictEqual(ready.body.endpoint.current_state, "idle")
      })
  )

  it.effect("DELETE project, 202: deleted with everything in it; 404 from that moment", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const { endpoint, main, path } = yield* project(who)
      assert.strictEqual((yield* who.call("DELETE", path)).status, 202)
      for (const at of [path, `${path}/branches/${main}`, `${path}/endpoints/${endpoint}`, `${path}/operations`])
        refused(yield* who.call("GET", at), 404, "not_found")
      assert.deepStrictEqual((yield* who.call("GET", "/v1/projects")).body.projects, [])
    })
  )

  it.effect("POST and PATCH project: a note of 500 characters is kept, null or nothing clears it, 501 are 422", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const note = "é".repeat(500)
      const made = yield* who.call("POST", "/v1/projects", { body: { name: "shop", note: ` ${note} ` } })
      assert.deepStrictEqual([made.status, made.body.project.note], [201, note])
      const path = `/v1/projects/${made.body.project.id}`
      const change = (body: unknown) => Effect.map(who.call("PATCH", path, { body }), (it) => it.body.project)
      assert.deepInclude(yield* change({ name: "store" }), { name: "store", note })
      assert.deepInclude(yield* change({ note: "short" }), { name: "store", note: "short" })
      assert.isNull((yield* change({ note: null })).note)
      assert.isNull((yield* change({ note: " " })).note)
      assert.isNull((yield* who.call("POST", "/v1/projects", { body: { name: "plain" } })).body.project.note)
      for (const wrong of [`${note}x`, "a\u0007b", 5])
        refused(yield* who.call("PATCH", path, { body: { note: wrong } }), 422, "invalid_request")
    })
  )

  it.effect("PATCH project, 422: a region cannot be changed, not even to the same one, and nothing else changes", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const { path } = yield* project(who)
      for (const region of [{ region: "local" }, { region_id: "local" }, { region: "x" }, { region_id: 5 }])
        for (const body of [region, { name: "renamed", ...region }])
          refused(yield* who.call("PATCH", path, { body }), 422, "region_immutable")
      assert.strictEqual((yield* who.call("GET", path)).body.project.name, "shop")
      refused(yield* who.call("PATCH", path, { body: {} }), 422, "invalid_request")
      refused(yield* who.call("PATCH", path), 422, "invalid_request")
    })
  )

  it.effect("a narrowed key lists the project that it reaches", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const [one, two] = [yield* project(who), yield* project(who)]
      for (const scope of [`project:${one.id}`, `branch:${one.main}`]) {
        const { body } = yield* (yield* key(who, { scope })).call("GET", "/v1/projects")
        assert.deepStrictEqual(
          body.projects.map((it: { id: string }) => it.id),
          [one.id]
        )
      }
      assert.notStrictEqual(one.id, two.id)
    })
  )
})

layer(memoryApi({ regions: ["eu-1", "us-1"] }), { excludeTestServices: true })("projects in several regions", (it) => {
  it.effect("GET regions, 200: the active regions, one of them the default", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const { body } = yield* who.call("GET", "/v1/regions")
      assert.deepStrictEqual(Object.keys(body), ["regions"])
      assert.deepStrictEqual(
        body.regions.map((it: Record<string, unknown>) => [
          it["region_id"],
          it["name"],
          it["default"],
          it["geo_lat"],
          it["geo_long"]
        ]),
        [
          ["eu-1", "eu-1", true, 0, 0],
          ["us-1", "us-1", false, 0, 0]
        ]
      )
    })
  )

  it.effect("POST projects, 422: no region, an unknown one, or two that differ; nothing is created", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      for (const body of [{ name: "p" }, { name: "p", region: null }])
        refused(yield* who.call("POST", "/v1/projects", { body }), 422, "region_required")
      for (const body of [
        { name: "p", region: "mars" },
        { name: "p", region_id: "" }
      ])
        refused(yield* who.call("POST", "/v1/projects", { body }), 422, "region_unknown")
      const differ = yield* who.call("POST", "/v1/projects", {
        body: { name: "p", region: "eu-1", region_id: "us-1" }
      })
      refused(differ, 422, "invalid_request")
      assert.deepStrictEqual(named(differ), ["region_id"])
      assert.deepStrictEqual((yield* who.call("GET", "/v1/projects")).body.projects, [])
      for (const body of [{ region: "us-1" }, { region_id: " us-1\n" }, { region: "us-1", region_id: "us-1" }]) {
        const made = yield* who.call("POST", "/v1/projects", { body: { name: "p", ...body } })
        assert.strictEqual(made.body.project?.region_id, "us-1", made.text)
      }
    })
  )
})
