/** API keys and the report of leaked ones. Holds docs/design/identity.md I46. */
import { assert, layer } from "@effect/vitest"
import { isKeySecret } from "@narthex/core"
import { Effect } from "effect"
import { Ahead, memoryApi } from "../support/apiOver.ts"
import { arrive, branch, founder, joined, key, project, refused, withToken } from "../support/story.ts"
import { call } from "../support/wire.ts"

layer(memoryApi({ key_limit: 5 }), { excludeTestServices: true })("api keys", (it) => {
  it.effect("POST api-keys, 201: the record and, once, its secret; under both paths", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      for (const path of ["/v1/api-keys", "/v1/api-keys/"]) {
        const made = yield* who.call("POST", path, { body: { name: " ci " } })
        const { api_key, secret } = made.body
        assert.strictEqual(made.status, 201)
        assert.isTrue(isKeySecret(secret))
        assert.strictEqual(made.headers["cache-control"], "no-store")
        assert.strictEqual(made.headers["location"], `/v1/api-keys/${api_key.id}`)
        assert.match(api_key.id, /^key-[0-7][0-9a-hjkmnp-tv-z]{25}$/)
        assert.deepStrictEqual(
          { ...api_key, id: "", created_at: "" },
          {
            id: "",
            name: "ci",
            hint: `…${secret.slice(-4)}`,
            capability: "read_write",
            scope: { type: "organization" },
            created_at: "",
            created_by: { id: who.user_id, email: who.email },
            expires_at: null,
            last_used_at: null,
            last_used_from: null,
            revoked_at: null
          }
        )
        const read = yield* who.call("GET", made.headers["location"] ?? "")
        assert.deepStrictEqual(read.body, { api_key })
        assert.notInclude((yield* who.call("GET", path)).text, "nsk_")
      }
    })
  )

  it.effect("POST api-keys, 201: every form of a scope; answers hold the object", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      const branch_scope = { type: "branch", project_id: place.id, branch_id: place.main }
      const forms: ReadonlyArray<readonly [unknown, unknown]> = [
        ["organization", { type: "organization" }],
        [`project:${place.id}`, { type: "project", project_id: place.id }],
        [`branch:${place.main}`, branch_scope],
        [branch_scope, branch_scope]
      ]
      for (const [scope, wanted] of forms) {
        const made = yield* who.call("POST", "/v1/api-keys", { body: { name: "k", scope } })
        assert.deepStrictEqual([made.status, made.body.api_key?.scope], [201, wanted], made.text)
      }
    })
  )

  it.effect("POST api-keys, 422: an invalid capability, scope or expiry; 409: too many active keys", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const wrong = [
        { capability: "write" },
        { scope: "everything" },
        { scope: { type: "galaxy" } },
        { scope: { type: "project" } },
        { expires_in_days: 0 },
        { expires_in_days: 3651 },
        { expires_in_days: 1.5 },
        { expires_in_days: "30" }
      ]
      for (const body of wrong)
        refused(yield* who.call("POST", "/v1/api-keys", { body: { name: "k", ...body } }), 422, "invalid_request")
      const days = yield* who.call("POST", "/v1/api-keys", { body: { name: "k", expires_in_days: 3650 } })
      const { created_at, expires_at } = days.body.api_key
      assert.strictEqual(Date.parse(expires_at) - Date.parse(created_at), 3650 * 86_400_000)
      for (let i = 0; i < 4; i++) yield* key(who)
      refused(yield* who.call("POST", "/v1/api-keys", { body: { name: "k" } }), 409, "conflict")
      const sibling = yield* joined(who, "member")
      yield* key(sibling)
    })
  )

  it.effect("a key acts as its creator, and its last use is recorded", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const mine = yield* key(who, { capability: "read" })
      const { body } = yield* mine.call("GET", "/v1/auth/whoami")
      assert.deepStrictEqual(
        [
          body.kind,
          body.user.id,
          body.organization.id,
          body.capability,
          body.scope,
          body.api_key.id,
          body.account_state
        ],
        ["api_key", who.user_id, who.org_id, "read", { type: "organization" }, mine.id, "active"]
      )
      const read = yield* who.call("GET", `/v1/api-keys/${mine.id}`)
      assert.isString(read.body.api_key.last_used_at)
      assert.strictEqual(read.body.api_key.last_used_from, "127.0.0.1")
    })
  )

  it.effect("a rotated key keeps its record; the old secret expires after the grace, or at once without one", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const mine = yield* key(who, { name: "rotating" })
      const works = (token: string) => Effect.map(call("GET", "/v1/regions", { token }), ({ status }) => status === 200)
      const graceful = yield* who.call("POST", `/v1/api-keys/${mine.id}/rotate`, { body: { grace_seconds: 60 } })
      assert.strictEqual(graceful.status, 201, graceful.text)
      assert.deepStrictEqual([graceful.body.api_key.id, graceful.body.api_key.name], [mine.id, "rotating"])
      assert.strictEqual(graceful.headers["cache-control"], "no-store")
      const second: string = graceful.body.secret
      assert.deepStrictEqual([yield* works(mine.token), yield* works(second)], [true, true])
      yield* (yield* Ahead).by("61 seconds")
      assert.deepStrictEqual([yield* works(mine.token), yield* works(second)], [false, true])
      const abrupt = yield* who.call("POST", `/v1/api-keys/${mine.id}/rotate`)
      const third: string = abrupt.body.secret
      assert.deepStrictEqual([yield* works(second), yield* works(third)], [false, true])
      for (const grace_seconds of [-1, 86_401, 1.5, "60"])
        refused(
          yield* who.call("POST", `/v1/api-keys/${mine.id}/rotate`, { body: { grace_seconds } }),
          422,
          "invalid_request"
        )
      assert.strictEqual((yield* who.call("GET", "/v1/api-keys")).body.api_keys.length, 1)
    })
  )

  it.effect("DELETE api-key, 204, then 404 and 401: a revoked key leaves lists and paths, and other keys stay", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const [gone, stays] = [yield* key(who), yield* key(who)]
      assert.strictEqual((yield* who.call("DELETE", `/v1/api-keys/${gone.id}`)).status, 204)
      refused(yield* who.call("DELETE", `/v1/api-keys/${gone.id}`), 404, "not_found")
      refused(yield* who.call("GET", `/v1/api-keys/${gone.id}`), 404, "not_found")
      refused(yield* who.call("POST", `/v1/api-keys/${gone.id}/rotate`), 404, "not_found")
      refused(yield* gone.call("GET", "/v1/regions"), 401, "invalid_token")
      const { body } = yield* stays.call("GET", "/v1/api-keys")
      assert.deepStrictEqual(
        body.api_keys.map((it: { id: string }) => it.id),
        [stays.id]
      )
      assert.strictEqual((yield* stays.call("DELETE", "/v1/api-keys/self")).status, 204)
      refused(yield* stays.call("DELETE", "/v1/api-keys/self"), 401, "invalid_token")
    })
  )

  it.effect("an expired key is 401, and is listed for another 30 days", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const mine = yield* key(who, { expires_in_days: 1 })
      const ahead = yield* Ahead
      yield* ahead.by("25 hours")
      refused(yield* mine.call("GET", "/v1/regions"), 401, "invalid_token")
      const inOrg = Effect.fnUntraced(function* () {
        const again = yield* arrive(who.email)
        const body = { org_id: who.org_id }
        const switched = yield* again.call("POST", "/v1/auth/switch-org", { body })
        return withToken(who, switched.body.access_token)
      })
      const soon = yield* inOrg()
      assert.strictEqual((yield* soon.call("GET", "/v1/api-keys")).body.api_keys.length, 1)
      assert.strictEqual((yield* soon.call("GET", `/v1/api-keys/${mine.id}`)).status, 200)
      yield* ahead.by("31 days")
      const late = yield* inOrg()
      assert.deepStrictEqual((yield* late.call("GET", "/v1/api-keys")).body.api_keys, [])
      refused(yield* late.call("GET", `/v1/api-keys/${mine.id}`), 404, "not_found")
    })
  )

  it.effect("POST credentials/report, 202: a leaked key is revoked, and any other text is 202 too", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const mine = yield* key(who)
      const answers = yield* Effect.forEach(
        [{ secret: "nothing" }, {}, { secret: 5 }, { secret: null }, { secret: mine.token }, { secret: mine.token }],
        (body) => call("POST", "/v1/credentials/report", { body })
      )
      assert.deepStrictEqual(
        answers.map(({ status, text }) => [status, text]),
        answers.map(() => [202, ""])
      )
      refused(yield* mine.call("GET", "/v1/regions"), 401, "invalid_token")
    })
  )

  it.effect("keys of a deleted project or branch are 401; others stay valid", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      const child = yield* branch(who, place)
      const ofBranch = yield* key(who, { scope: `branch:${child.branch.id}` })
      const ofProject = yield* key(who, { scope: `project:${place.id}` })
      const wide = yield* key(who)
      yield* who.call("DELETE", `${place.path}/branches/${child.branch.id}`)
      refused(yield* ofBranch.call("GET", "/v1/auth/whoami"), 401, "invalid_token")
      assert.strictEqual((yield* ofProject.call("GET", "/v1/auth/whoami")).status, 200)
      yield* who.call("DELETE", place.path)
      refused(yield* ofProject.call("GET", "/v1/auth/whoami"), 401, "invalid_token")
      assert.strictEqual((yield* wide.call("GET", "/v1/auth/whoami")).status, 200)
    })
  )
})
