/** Entries of refusals (docs/design/audit.md U6 to U9). */
import { assert, layer } from "@effect/vitest"
import { auditedRefusals, layerMemoryPorts } from "@narthex/core"
import { Duration, Effect } from "effect"
import { Ahead, apiOver } from "../support/apiOver.ts"
import { arrive, founder, joined, key, project, refused } from "../support/story.ts"
import { entries } from "./entriesOf.ts"

layer(apiOver(layerMemoryPorts), { excludeTestServices: true })("refusals in the audit log", (it) => {
  it.effect("a refused attempt on members, roles, keys and the organization leaves an entry", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const member = yield* joined(owner, "member")
      const org = `/v1/orgs/${owner.org_id}`
      const ci = yield* key(owner, { name: "ci" })
      refused(yield* member.call("PATCH", org, { body: { name: "x" } }), 403, "role_insufficient")
      refused(
        yield* member.call("DELETE", `${org}/members/${owner.user_id}`, { headers: { "idempotency-key": "k" } }),
        403,
        "role_insufficient"
      )
      refused(yield* ci.call("POST", "/v1/api-keys", { body: { name: "y" } }), 403, "session_required")
      const [made, removed, renamed] = yield* entries(owner, "?outcome=refused")
      assert.deepInclude(renamed, {
        action: "organization.renamed",
        targets: [{ type: "organization", id: owner.org_id, name: null }],
        metadata: { code: "role_insufficient", required: "rename_organization" }
      })
      assert.deepInclude(removed, {
        action: "member.removed",
        targets: [{ type: "member", id: owner.user_id, name: null }]
      })
      assert.strictEqual(removed?.actor.id, member.user_id)
      assert.deepInclude(made, {
        action: "api_key.created",
        metadata: { code: "session_required", required: "session" }
      })
      assert.strictEqual(made?.actor.id, ci.id)
    })
  )

  it.effect("a refusal that a service decides leaves an entry too", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const admin = yield* joined(owner, "admin")
      const path = `/v1/orgs/${owner.org_id}/members/${admin.user_id}`
      refused(yield* admin.call("PATCH", path, { body: { role: "owner" } }), 403, "role_insufficient")
      const [entry, ...more] = yield* entries(owner, "?outcome=refused")
      assert.deepStrictEqual([entry?.action, more.length], ["member.role_changed", 0])
    })
  )

  it.effect("a refused read and a refusal that is not sensitive leave no entry", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const viewer = yield* joined(owner, "viewer")
      const place = yield* project(owner)
      refused(yield* viewer.call("GET", `/v1/orgs/${owner.org_id}/invitations`), 403, "role_insufficient")
      refused(yield* viewer.call("POST", `${place.path}/ip-allow`, { body: {} }), 403, "role_insufficient")
      assert.deepStrictEqual(yield* entries(owner, "?outcome=refused"), [])
    })
  )

  it.effect("a stranger, a former member and a failed sign-in leave no entry", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const former = yield* joined(owner, "member")
      yield* owner.call("DELETE", `/v1/orgs/${owner.org_id}/members/${former.user_id}`)
      const before = yield* entries(owner)
      refused(yield* former.call("DELETE", `/v1/orgs/${owner.org_id}`), 403, "not_a_member")
      const stranger = yield* arrive()
      refused(yield* stranger.call("DELETE", `/v1/orgs/${owner.org_id}`), 404, "not_found")
      refused(yield* owner.call("DELETE", `/v1/orgs/${owner.org_id}`, { token: "x" }), 401, "invalid_token")
      refused(yield* owner.call("POST", "/v1/auth/exchange", { body: { id_token: "x" } }), 401, "invalid_token")
      assert.deepStrictEqual(yield* entries(owner), before)
    })
  )

  it.effect("a person leaves a bounded number of refusals in an hour, with all keys together", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const keys = [yield* key(owner, { capability: "read" }), yield* key(owner, { capability: "read" })]
      const attempts = (times: number) =>
        Effect.forEach(
          Array.from({ length: times }, (_, n) => keys[n % 2] ?? owner),
          (who) => who.call("DELETE", `/v1/orgs/${owner.org_id}`),
          { concurrency: 8 }
        )
      yield* attempts(auditedRefusals.limit + 10)
      assert.lengthOf(yield* entries(owner, "?outcome=refused&limit=1000"), auditedRefusals.limit)
      const other = yield* joined(owner, "member")
      yield* other.call("DELETE", `/v1/orgs/${owner.org_id}`)
      assert.lengthOf(yield* entries(owner, `?outcome=refused&actor_id=${other.user_id}`), 1)
    })
  )

  it.effect("an hour later the person's refusals are added again", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const member = yield* joined(owner, "member")
      const attempt = member.call("DELETE", `/v1/orgs/${owner.org_id}`)
      yield* Effect.forEach(Array.from({ length: auditedRefusals.limit + 1 }), () => attempt, { concurrency: 8 })
      yield* (yield* Ahead).by(Duration.hours(3))
      const fresh = yield* member.call("POST", "/v1/auth/refresh")
      yield* member.call("DELETE", `/v1/orgs/${owner.org_id}`, { token: fresh.body.access_token })
      const again = yield* owner.call("POST", "/v1/auth/refresh")
      const reader = {
        ...owner,
        call: (method: string, path: string) => owner.call(method, path, { token: again.body.access_token })
      }
      assert.lengthOf(yield* entries(reader, "?outcome=refused&limit=1000"), auditedRefusals.limit + 1)
    })
  )

  it.effect("an id of the path is kept as far as it can be stored, and 128 characters at most", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const member = yield* joined(owner, "member")
      for (const id of [`${"u".repeat(300)}`, "a%00b"])
        refused(yield* member.call("DELETE", `/v1/orgs/${owner.org_id}/members/${id}`), 403, "role_insufficient")
      const all = yield* entries(owner, "?outcome=refused")
      assert.deepStrictEqual(
        all.map(({ targets }) => targets[0]?.id),
        ["a\ufffdb", "u".repeat(128)]
      )
    })
  )
})
