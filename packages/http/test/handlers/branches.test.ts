/** Branches, their credentials, and sandboxes. */
import { assert, layer } from "@effect/vitest"
import { BranchId, QuotaStore } from "@narthex/core"
import { Clock, DateTime, Effect } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { Ahead, memoryApi } from "../support/apiOver.ts"
import { branch, finish, founder, key, project, refused, settled } from "../support/story.ts"

layer(memoryApi(), { excludeTestServices: true })("branches", (it) => {
  it.effect("POST branches, 201: a copy of the default branch, without an endpoint, with a generated name", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const { id, main, path } = yield* project(who)
      const plain = yield* who.call("POST", `${path}/branches`)
      assert.deepStrictEqual(
        [plain.status, plain.body.branch.parent_id, plain.body.branch.project_id, plain.body.endpoint],
        [201, main, id, null]
      )
      assert.match(plain.body.branch.name, /^[A-Za-z][A-Za-z0-9_./-]*$/)
      assert.strictEqual(plain.headers["location"], `${path}/branches/${plain.body.branch.id}`)
      assert.deepStrictEqual(plain.body.branch.created_by, { id: who.user_id, email: who.email })
      assert.notProperty(plain.body.branch, "made_by_agent")
      assert.notProperty(plain.body.branch, "made_by_key_id")
      yield* settled(who, plain)
      const body = { name: "grandchild", parent_id: plain.body.branch.id, endpoint: true, ttl_seconds: 60 }
      const full = yield* settled(who, yield* who.call("POST", `${path}/branches`, { body }))
      assert.strictEqual(full.body.endpoint.branch_id, full.body.branch.id)
      const { created_at, expires_at } = full.body.branch
      assert.strictEqual(Date.parse(expires_at) - Date.parse(created_at), 60_000)
      refused(yield* who.call("POST", `${path}/branches`, { body: { name: "grandchild" } }), 409, "conflict")
    })
  )

  it.effect(
    "PATCH branch, 200: a name, an expiry, no expiry; 409: a taken name, an expiry for a protected branch",
    () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const place = yield* project(who)
        const { branch: made } = yield* branch(who, place, { name: "one" })
        const at = `${place.path}/branches/${made.id}`
        const renamed = yield* who.call("PATCH", at, { body: { name: "two", ttl_seconds: 60 } })
        assert.deepStrictEqual([renamed.body.branch.name, renamed.body.branch.expires_at !== null], ["two", true])
        const kept = yield* who.call("PATCH", at, { body: { name: "three" } })
        assert.isNotNull(kept.body.branch.expires_at)
        const freed = yield* who.call("PATCH", at, { body: { ttl_seconds: null } })
        assert.deepStrictEqual([freed.body.branch.name, freed.body.branch.expires_at], ["three", null])
        refused(yield* who.call("PATCH", at, { body: { name: "main" } }), 409, "conflict")
        yield* who.call("PATCH", at, { body: { protected: true } })
        refused(yield* who.call("PATCH", at, { body: { ttl_seconds: 60 } }), 409, "conflict")
        for (const body of [{ ttl_seconds: 0 }, { ttl_seconds: 1.5 }, { protected: "yes" }])
          refused(yield* who.call("PATCH", at, { body }), 422, "invalid_request")
      })
  )

  it.effect(
    "a branch key that resets its own branch, 403 while the branch is main: a project's scope is required",
    () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const place = yield* project(who)
        const { branch: made } = yield* branch(who, place)
        const at = `${place.path}/branches/${made.id}`
        const narrow = yield* key(who, { scope: { type: "branch", project_id: place.id, branch_id: made.id } })
        yield* who.call("PATCH", at, { body: { protected: true } })
        const answer = yield* narrow.call("POST", `${at}/reset`)
        refused(answer, 403, "scope_insufficient")
        assert.deepStrictEqual([answer.body.required, answer.body.held], ["project", "branch"])
        yield* who.call("PATCH", at, { body: { protected: false } })
        assert.strictEqual((yield* narrow.call("POST", `${at}/reset`)).status, 200)
      })
  )

  it.effect("a branch, 409: delete the default, a protected or a parent branch; reset one without parent", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      const branches = `${place.path}/branches`
      const { branch: parent } = yield* branch(who, place, { name: "parent" })
      const { branch: child } = yield* branch(who, place, { name: "child", parent_id: parent.id })
      for (const id of [place.main, parent.id]) refused(yield* who.call("DELETE", `${branches}/${id}`), 409, "conflict")
      refused(yield* who.call("POST", `${branches}/${place.main}/reset`), 409, "conflict")
      yield* who.call("PATCH", `${branches}/${child.id}`, { body: { protected: true } })
      refused(yield* who.call("DELETE", `${branches}/${child.id}`), 409, "conflict")
      refused(yield* who.call("POST", `${branches}/${child.id}/reset`), 409, "conflict")
      yield* who.call("PATCH", `${branches}/${child.id}`, { body: { protected: false } })
      yield* settled(who, yield* who.call("POST", `${branches}/${child.id}/set-default`))
      refused(yield* who.call("POST", `${branches}/${child.id}/reset`), 409, "conflict")
      yield* settled(who, yield* who.call("POST", `${branches}/${place.main}/set-default`))
      const gone = yield* who.call("DELETE", `${branches}/${child.id}`)
      assert.deepStrictEqual([gone.status, gone.body.operations[0].action], [202, "delete_timeline"])
      refused(yield* who.call("GET", `${branches}/${child.id}`), 404, "not_found")
      const [operation] = gone.body.operations
      assert.strictEqual((yield* who.call("GET", `${place.path}/operations/${operation.id}`)).status, 200)
      assert.strictEqual((yield* who.call("POST", `${branches}`, { body: { name: "child" } })).status, 201)
    })
  )

  it.effect("POST set-default moves the default; empty `operations` mean that it was the default already", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      const { branch: next } = yield* branch(who, place, { ttl_seconds: 3600 })
      const at = `${place.path}/branches/${next.id}/set-default`
      const moved = yield* who.call("POST", at)
      assert.deepStrictEqual([moved.body.branch.default, moved.body.branch.expires_at], [true, null])
      assert.strictEqual((yield* who.call("GET", place.path)).body.project.default_branch_id, next.id)
      assert.isFalse((yield* who.call("GET", `${place.path}/branches/${place.main}`)).body.branch.default)
      assert.deepStrictEqual((yield* who.call("POST", at)).body.operations, [])
    })
  )

  it.effect(
    "every answer with a branch has the size that was measured last; null: not measured, or being replaced",
    () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const place = yield* project(who)
        const branches = `${place.path}/branches`
        const { body: made } = yield* settled(who, yield* who.call("POST", branches, { body: { name: "sized" } }))
        const sizeOf = (shown: Record<string, unknown>) => [shown["size_bytes"], shown["size_measured_at"]]
        assert.deepStrictEqual(sizeOf(made.branch), [null, null])
        const at = `${branches}/${made.branch.id}`
        const before = (yield* who.call("GET", at)).body.branch
        assert.deepStrictEqual(sizeOf(before), [null, null])

        const measured_at = "2026-11-23T12:00:00.000Z"
        const sizes = [
          { branch_id: BranchId.make(made.branch.id), bytes: 33_200_000 },
          { branch_id: BranchId.make(place.main), bytes: 0 }
        ]
        yield* (yield* QuotaStore).recordBytes(null, sizes, DateTime.makeUnsafe(measured_at))
        const wanted = [33_200_000, measured_at]
        const after = (yield* who.call("GET", at)).body.branch
        assert.deepStrictEqual(sizeOf(after), wanted)
        assert.strictEqual(after.updated_at, before.updated_at)
        const listed = (yield* who.call("GET", branches)).body.branches
        assert.deepStrictEqual(listed.map(sizeOf), [wanted, [0, measured_at]])
        assert.deepStrictEqual(sizeOf((yield* who.call("PATCH", at, { body: { name: "again" } })).body.branch), wanted)
        const sandbox = yield* settled(who, yield* who.call("POST", `${place.path}/sandboxes`))
        assert.deepStrictEqual(sizeOf(sandbox.body.branch), [null, null])
        const reset = yield* settled(who, yield* who.call("POST", `${at}/reset`))
        assert.deepStrictEqual(sizeOf(reset.body.branch), [null, null])
        assert.deepStrictEqual(sizeOf((yield* who.call("POST", `${at}/set-default`)).body.branch), wanted)
        const another = yield* who.call("POST", "/v1/projects", { body: { name: "other" } })
        assert.deepStrictEqual(sizeOf(another.body.branch), [null, null])
      })
  )

  it.effect("POST branch credentials, 201: bound to the branch, secrets shown once; 409: no endpoint", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      const path = `${place.path}/branches/${place.main}/credentials`
      const minted = yield* who.call("POST", path, { body: { access: "read_write" } })
      assert.strictEqual(minted.headers["cache-control"], "no-store")
      assert.deepStrictEqual([minted.body.credential.access, minted.body.credential.expires_at], ["read_write", null])
      assert.include(minted.body.connection_uri, minted.body.credential.role)
      const short = yield* who.call("POST", path, { body: { access: "read_only", ttl_seconds: 60 } })
      assert.isNotNull(short.body.credential.expires_at)
      const agent = yield* key(who, { capability: "agent" })
      const before = yield* Clock.currentTimeMillis
      const lent = yield* agent.call("POST", path, { body: { access: "read_only" } })
      const after = yield* Clock.currentTimeMillis
      const made = Date.parse(lent.body.credential.expires_at) - 3_600_000
      assert.isTrue(before <= made && made <= after, `${before} <= ${made} <= ${after}`)
      for (const body of [{}, { access: "admin" }, { access: "read_only", ttl_seconds: 0 }])
        refused(yield* who.call("POST", path, { body }), 422, "invalid_request")
      const { branch: bare } = yield* branch(who, place)
      const none = `${place.path}/branches/${bare.id}/credentials`
      refused(yield* who.call("POST", none, { body: { access: "read_only" } }), 409, "conflict")
    })
  )

  it.effect("POST sandboxes, 201: a branch that expires after an hour by default, and at most a day", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      const agent = yield* key(who, { capability: "agent" })
      const made = yield* agent.call("POST", `${place.path}/sandboxes`)
      assert.strictEqual(made.status, 201, made.text)
      assert.sameMembers(Object.keys(made.body), [
        "branch",
        "endpoint",
        "credential",
        "password",
        "connection_uri",
        "operations"
      ])
      assert.strictEqual(made.headers["cache-control"], "no-store")
      assert.strictEqual(made.headers["location"], `${place.path}/branches/${made.body.branch.id}`)
      const { created_at, expires_at } = made.body.branch
      assert.strictEqual(Date.parse(expires_at) - Date.parse(created_at), 3_600_000)
      for (const ttl_seconds of [0, 86_401])
        refused(yield* agent.call("POST", `${place.path}/sandboxes`, { body: { ttl_seconds } }), 422, "invalid_request")
    })
  )

  it.effect("when a branch becomes main, agents lose their rights on it", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      const agent = yield* key(who, { capability: "agent" })
      const made = yield* settled(who, yield* agent.call("POST", `${place.path}/sandboxes`))
      const at = `${place.path}/branches/${made.body.branch.id}`
      assert.strictEqual((yield* agent.call("PATCH", at, { body: { name: "mine" } })).status, 200)
      yield* who.call("PATCH", at, { body: { protected: true, ttl_seconds: null } })
      refused(yield* agent.call("PATCH", at, { body: { name: "still" } }), 403, "capability_insufficient")
      const writer = { body: { access: "read_write" } }
      refused(yield* agent.call("POST", `${at}/credentials`, writer), 403, "capability_insufficient")
    })
  )

  it.effect("an expired branch is deleted", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      const { branch: brief } = yield* branch(who, place, { ttl_seconds: 60 })
      const mine = yield* key(who)
      yield* (yield* Ahead).by("61 seconds")
      const gone = Effect.map(mine.call("GET", `${place.path}/branches/${brief.id}`), ({ status }) => status)
      yield* eventually(
        "the branch to be gone",
        Effect.map(gone, (status) => status === 404)
      )
    })
  )
})

layer(memoryApi({ idle: true }), { excludeTestServices: true })("a branch at work", (it) => {
  it.effect("a busy branch, 423: reset, delete and set-default; reads and renames succeed", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const { body } = yield* who.call("POST", "/v1/projects", { body: { name: "p" } })
      const path = `/v1/projects/${body.project.id}/branches`
      const made = yield* who.call("POST", path)
      const at = `${path}/${made.body.branch.id}`
      const [operation] = made.body.operations
      for (const [method, suffix] of [
        ["POST", "/reset"],
        ["POST", "/set-default"],
        ["DELETE", ""]
      ] as const) {
        const busy = yield* who.call(method, at + suffix)
        refused(busy, 423, "resource_busy")
        assert.deepStrictEqual([busy.headers["retry-after"], busy.body.blocking_operation_id], ["1", operation.id])
      }
      assert.strictEqual((yield* who.call("PATCH", at, { body: { name: "renamed" } })).status, 200)
      assert.strictEqual((yield* who.call("GET", at)).body.branch.name, "renamed")
      yield* finish(operation.id)
      const reset = yield* who.call("POST", `${at}/reset`)
      assert.deepStrictEqual(
        [reset.status, reset.body.branch.current_state, reset.body.operations[0].action],
        [200, "resetting", "reset_branch"]
      )
    })
  )
})
