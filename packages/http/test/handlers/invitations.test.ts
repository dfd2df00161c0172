/** Invitations into an organization: created, resent, revoked. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Ahead, idToken, memoryApi } from "../support/apiOver.ts"
import { address, arrive, type Caller, founder, joined, refused, withToken } from "../support/story.ts"
import { call } from "../support/wire.ts"

const invite = (who: Caller, body: Record<string, unknown>) =>
  who.call("POST", `/v1/orgs/${who.org_id}/invitations`, { body })

const statuses = (who: Caller) =>
  Effect.map(
    who.call("GET", `/v1/orgs/${who.org_id}/invitations`),
    ({ body }): ReadonlyArray<string> => body.invitations.map((it: { status: string }) => it.status)
  )

layer(memoryApi(), { excludeTestServices: true })("invitations", (it) => {
  it.effect("POST invitations, 201: seven days, role member by default; 409: a second pending one of an address", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const made = yield* invite(who, { email: " Guest@Example.COM " })
      const { invitation } = made.body
      assert.deepStrictEqual(
        { ...invitation, id: "", created_at: "", expires_at: "" },
        {
          id: "",
          org_id: who.org_id,
          email: "guest@example.com",
          role: "member",
          status: "pending",
          invited_by: { id: who.user_id, email: who.email },
          created_at: "",
          expires_at: "",
          accepted_at: null,
          revoked_at: null
        }
      )
      assert.strictEqual(Date.parse(invitation.expires_at) - Date.parse(invitation.created_at), 7 * 86_400_000)
      for (const email of ["guest@example.com", "guest@example.com."])
        refused(yield* invite(who, { email, role: "viewer" }), 409, "conflict")
    })
  )

  it.effect("POST invitations, 422: an invalid address or role; 403: a role above the caller's", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      for (const body of [{}, { email: "x" }, { email: "@x" }, { email: address(), role: "king" }, { email: 5 }])
        refused(yield* invite(who, body), 422, "invalid_request")
      const admin = yield* joined(who, "admin")
      refused(yield* invite(admin, { email: address(), role: "owner" }), 403, "role_insufficient")
      assert.strictEqual((yield* invite(admin, { email: address(), role: "admin" })).status, 201)
    })
  )

  it.effect("revoked and expired invitations do not block a new one; resend renews the seven days", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const email = address()
      const first = yield* invite(who, { email })
      const at = `/v1/orgs/${who.org_id}/invitations/${first.body.invitation.id}`
      assert.strictEqual((yield* who.call("DELETE", at)).status, 204)
      refused(yield* who.call("POST", `${at}/resend`), 404, "not_found")
      refused(yield* who.call("DELETE", at), 404, "not_found")
      const second = yield* invite(who, { email })
      const ahead = yield* Ahead
      yield* ahead.by("6 days")
      const again = withToken(who, (yield* arrive(who.email)).token)
      const home = yield* again.call("POST", "/v1/auth/switch-org", { body: { org_id: who.org_id } })
      const owner = withToken(who, home.body.access_token)
      const resent = yield* owner.call("POST", `/v1/orgs/${who.org_id}/invitations/${second.body.invitation.id}/resend`)
      const moved = Date.parse(resent.body.invitation.expires_at) - Date.parse(second.body.invitation.expires_at)
      assert.isAtLeast(moved, 6 * 86_400_000)
      assert.deepStrictEqual(yield* statuses(owner), ["pending", "revoked"])
      yield* ahead.by("8 days")
      const late = withToken(who, (yield* arrive(who.email)).token)
      const back = yield* late.call("POST", "/v1/auth/switch-org", { body: { org_id: who.org_id } })
      const last = withToken(who, back.body.access_token)
      assert.deepStrictEqual(yield* statuses(last), ["expired", "revoked"])
      assert.strictEqual((yield* invite(last, { email })).status, 201)
    })
  )

  it.effect("an unverified email address matches no invitation", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const email = address()
      yield* invite(owner, { email })
      const id_token = idToken(email).replace("email:", "unverified:")
      const { body } = yield* call("POST", "/v1/auth/exchange", { body: { id_token } })
      assert.isTrue(body.organization.personal)
      assert.deepStrictEqual(yield* statuses(owner), ["pending"])
    })
  )
})
