/** Organizations and their members. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { memoryApi } from "../support/apiOver.ts"
import { arrive, founder, joined, key, project, refused, withToken } from "../support/story.ts"

const lockout = "?confirm_self_lockout=true"

layer(memoryApi(), { excludeTestServices: true })("organizations", (it) => {
  it.effect("POST orgs, 201: a team organization, of which the caller is the owner", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const made = yield* who.call("POST", "/v1/orgs", { body: { name: " Team " } })
      const { organization } = made.body
      assert.strictEqual(made.status, 201)
      assert.deepStrictEqual([organization.name, organization.personal, organization.role], ["Team", false, "owner"])
      assert.strictEqual(made.headers["location"], `/v1/orgs/${organization.id}`)
      const all = (yield* who.call("GET", "/v1/orgs")).body.organizations
      assert.sameMembers(
        all.map((it: { id: string }) => it.id),
        [who.org_id, organization.id]
      )
      const wide = yield* key(who)
      const its = (yield* wide.call("GET", "/v1/orgs")).body.organizations
      assert.deepStrictEqual(
        its.map((it: { id: string }) => it.id),
        [who.org_id]
      )
    })
  )

  it.effect("a path serves the credential's own organization; another membership is 404", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      assert.strictEqual((yield* who.call("GET", `/v1/orgs/${who.org_id}`)).body.organization.id, who.org_id)
      const all = (yield* who.call("GET", "/v1/orgs")).body.organizations
      const personal: string = all.find((it: { personal: boolean }) => it.personal).id
      for (const method of ["GET", "DELETE"]) refused(yield* who.call(method, `/v1/orgs/${personal}`), 404, "not_found")
      refused(yield* who.call("PATCH", `/v1/orgs/${personal}`, { body: { name: "x" } }), 404, "not_found")
    })
  )

  it.effect("DELETE org, 409: a personal organization, or one with projects", () =>
    Effect.gen(function* () {
      const alone = yield* arrive()
      refused(yield* alone.call("DELETE", `/v1/orgs/${alone.org_id}`), 409, "conflict")
      const who = yield* founder()
      const { path } = yield* project(who)
      refused(yield* who.call("DELETE", `/v1/orgs/${who.org_id}`), 409, "conflict")
      yield* who.call("DELETE", path)
      assert.strictEqual((yield* who.call("DELETE", `/v1/orgs/${who.org_id}`)).status, 204)
    })
  )

  it.effect("after an organization is deleted, its keys are 401 and sessions not_a_member until a refresh", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const mine = yield* key(who)
      yield* who.call("DELETE", `/v1/orgs/${who.org_id}`)
      refused(yield* mine.call("GET", "/v1/regions"), 401, "invalid_token")
      refused(yield* who.call("GET", "/v1/projects"), 403, "not_a_member")
      const lost = yield* who.call("GET", "/v1/auth/whoami")
      assert.deepStrictEqual([lost.body.organization.role, lost.body.permissions], [null, []])
      const fresh = yield* who.call("POST", "/v1/auth/refresh")
      assert.isTrue(fresh.body.organization.personal)
      assert.strictEqual((yield* withToken(who, fresh.body.access_token).call("GET", "/v1/projects")).status, 200)
    })
  )
})

layer(memoryApi(), { excludeTestServices: true })("members", (it) => {
  it.effect("a member, 409: the last owner can be neither demoted nor removed, even when confirmed", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const me = `/v1/orgs/${who.org_id}/members/${who.user_id}`
      for (const query of ["", lockout]) {
        refused(yield* who.call("PATCH", me + query, { body: { role: "admin" } }), 409, "conflict")
        refused(yield* who.call("DELETE", me + query), 409, "conflict")
      }
      const alone = yield* arrive()
      const self = `/v1/orgs/${alone.org_id}/members/${alone.user_id}${lockout}`
      refused(yield* alone.call("DELETE", self), 409, "conflict")
    })
  )

  it.effect("leaving and demoting oneself must be confirmed, and take effect at once", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const who = yield* joined(owner, "owner")
      const mine = yield* key(who)
      const me = `/v1/orgs/${owner.org_id}/members/${who.user_id}`
      refused(yield* who.call("PATCH", me, { body: { role: "member" } }), 409, "conflict")
      refused(yield* who.call("DELETE", me), 409, "conflict")
      refused(yield* who.call("DELETE", `${me}?confirm_self_lockout=yes`), 409, "conflict")
      const lower = yield* who.call("PATCH", me + lockout, { body: { role: "member" } })
      assert.deepStrictEqual([lower.status, lower.body.member.role], [200, "member"])
      refused(yield* who.call("PATCH", `/v1/orgs/${owner.org_id}`, { body: { name: "x" } }), 403, "role_insufficient")
      refused(yield* mine.call("PATCH", `/v1/orgs/${owner.org_id}`, { body: { name: "x" } }), 403, "role_insufficient")
      assert.strictEqual((yield* who.call("DELETE", me + lockout)).status, 204)
      refused(yield* who.call("GET", "/v1/projects"), 403, "not_a_member")
      refused(yield* mine.call("GET", "/v1/auth/whoami"), 403, "not_a_member")
    })
  )

  it.effect("keys that ended with a membership stay ended when their creator comes back", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const who = yield* joined(owner, "member")
      const mine = yield* key(who)
      yield* owner.call("DELETE", `/v1/orgs/${owner.org_id}/members/${who.user_id}`)
      yield* owner.call("POST", `/v1/orgs/${owner.org_id}/invitations`, { body: { email: who.email } })
      const back = yield* arrive(who.email)
      const [invitation] = (yield* back.call("GET", "/v1/invitations")).body.invitations
      assert.strictEqual((yield* back.call("POST", `/v1/invitations/${invitation.id}/accept`)).status, 200)
      const again = yield* back.call("POST", "/v1/auth/switch-org", { body: { org_id: owner.org_id } })
      assert.strictEqual(again.status, 200, again.text)
      refused(yield* mine.call("GET", "/v1/regions"), 403, "not_a_member")
    })
  )

  it.effect("a promotion counts from the next refresh on, a demotion at once", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const who = yield* joined(owner, "member")
      const them = `/v1/orgs/${owner.org_id}/members/${who.user_id}`
      const rename = { body: { name: "renamed" } }
      yield* owner.call("PATCH", them, { body: { role: "admin" } })
      refused(yield* who.call("PATCH", `/v1/orgs/${owner.org_id}`, rename), 403, "role_insufficient")
      const { body } = yield* who.call("POST", "/v1/auth/refresh")
      assert.strictEqual(body.organization.role, "admin")
      const promoted = withToken(who, body.access_token)
      assert.strictEqual((yield* promoted.call("PATCH", `/v1/orgs/${owner.org_id}`, rename)).status, 200)
      yield* owner.call("PATCH", them, { body: { role: "viewer" } })
      refused(yield* promoted.call("POST", "/v1/projects", { body: { name: "p" } }), 403, "role_insufficient")
    })
  )

  it.effect("PATCH member, 422: an unknown role; 403: a role above the caller's", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const admin = yield* joined(owner, "admin")
      const member = yield* joined(owner, "member")
      const them = `/v1/orgs/${owner.org_id}/members/${member.user_id}`
      for (const role of ["king", "", "Owner", 5])
        refused(yield* owner.call("PATCH", them, { body: { role } }), 422, "invalid_request")
      refused(yield* admin.call("PATCH", them, { body: { role: "owner" } }), 403, "role_insufficient")
      assert.strictEqual((yield* admin.call("PATCH", them, { body: { role: "admin" } })).status, 200)
      const { body } = yield* owner.call("GET", `/v1/orgs/${owner.org_id}/members`)
      const [one] = body.members.filter((it: { user_id: string }) => it.user_id === member.user_id)
      assert.sameMembers(Object.keys(one), ["user_id", "email", "name", "role", "joined_at"])
      assert.strictEqual(one.role, "admin")
    })
  )
})
