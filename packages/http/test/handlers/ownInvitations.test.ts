/** A person's own invitations: joined at the first sign-in, listed, accepted, declined. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Ahead, memoryApi } from "../support/apiOver.ts"
import { address, arrive, type Caller, founder, joined, key, refused, withToken } from "../support/story.ts"

/** Invites, and answers the id of the invitation. */
const invite = (by: Caller, email: string, role = "member") =>
  Effect.map(
    by.call("POST", `/v1/orgs/${by.org_id}/invitations`, { body: { email, role } }),
    ({ body }): string => body.invitation.id
  )

const organizationsOf = (who: Caller) =>
  Effect.map(
    who.call("GET", "/v1/orgs"),
    ({ body }): ReadonlyArray<string> => body.organizations.map((it: { id: string }) => it.id)
  )

/** The ids of what is pending. */
const pendingOf = (who: Caller) =>
  Effect.map(
    who.call("GET", "/v1/invitations"),
    ({ body }): ReadonlyArray<string> => body.invitations.map((it: { id: string }) => it.id)
  )

layer(memoryApi(), { excludeTestServices: true })("own invitations", (it) => {
  it.effect("a first sign-in with one invitation lands there; the answers name the inviter until a switch", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const email = address()
      yield* invite(owner, email)
      const who = yield* arrive(email)
      assert.strictEqual(who.org_id, owner.org_id)
      const inviter = { id: owner.user_id, email: owner.email, name: null }
      const mine = yield* key(who)
      for (const caller of [who, mine])
        assert.deepStrictEqual((yield* caller.call("GET", "/v1/auth/whoami")).body.invited_by, inviter)
      const { body } = yield* who.call("POST", "/v1/auth/refresh")
      assert.deepStrictEqual(body.invited_by, inviter)
      const again = withToken(who, body.access_token)
      const stayed = yield* again.call("POST", "/v1/auth/switch-org", { body: { org_id: owner.org_id } })
      assert.deepStrictEqual([stayed.body.organization.id, stayed.body.invited_by], [owner.org_id, null])
      assert.isNull((yield* mine.call("GET", "/v1/auth/whoami")).body.invited_by)
    })
  )

  it.effect("a first sign-in with several invitations joins the organization that invited first", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* founder(), yield* founder()]
      const email = address()
      const first = yield* invite(one, email)
      yield* (yield* Ahead).by("1 second")
      const second = yield* invite(two, email)
      const who = yield* arrive(email)
      assert.strictEqual(who.org_id, one.org_id)
      assert.include(yield* organizationsOf(who), one.org_id)
      assert.notInclude(yield* organizationsOf(who), two.org_id)
      assert.deepStrictEqual(yield* pendingOf(who), [second])
      assert.notStrictEqual(first, second)
    })
  )

  it.effect("an invitation of a person with an account is pending, whatever they refresh, sign in or make", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const who = yield* arrive()
      const id = yield* invite(owner, who.email)
      const refreshed = withToken(who, (yield* who.call("POST", "/v1/auth/refresh")).body.access_token)
      const again = yield* arrive(who.email)
      yield* key(again)
      for (const caller of [refreshed, again]) {
        assert.deepStrictEqual(yield* organizationsOf(caller), [who.org_id])
        assert.deepStrictEqual(yield* pendingOf(caller), [id])
      }
    })
  )

  it.effect("GET invitations, 200: by whom, into what, and pages", () =>
    Effect.gen(function* () {
      const [one, two, who] = [yield* founder(), yield* founder(), yield* arrive()]
      yield* invite(one, who.email)
      yield* (yield* Ahead).by("1 second")
      yield* invite(two, who.email, "admin")
      const first = yield* who.call("GET", "/v1/invitations?limit=1")
      const [shown] = first.body.invitations
      assert.deepStrictEqual(
        { ...shown, id: "", created_at: "", expires_at: "" },
        {
          id: "",
          organization: { id: two.org_id, name: "Team" },
          role: "admin",
          invited_by: { id: two.user_id, email: two.email, name: null },
          created_at: "",
          expires_at: ""
        }
      )
      const next = yield* who.call("GET", `/v1/invitations?cursor=${first.body.pagination.next_cursor}`)
      assert.strictEqual(next.body.invitations[0].organization.id, one.org_id)
      assert.isNull(next.body.pagination.next_cursor)
      refused(yield* who.call("GET", "/v1/invitations?cursor=x"), 400, "malformed_request")
    })
  )

  it.effect("POST accept, 200: the organization, for a session and for a key; its repetition replays or is 404", () =>
    Effect.gen(function* () {
      const [one, two, who] = [yield* founder(), yield* founder(), yield* arrive()]
      const mine = yield* key(who)
      for (const [caller, owner] of [
        [who, one],
        [mine, two]
      ] as const) {
        const id = yield* invite(owner, who.email, "viewer")
        const headers = { "idempotency-key": id }
        const accepted = yield* caller.call("POST", `/v1/invitations/${id}/accept`, { headers })
        assert.strictEqual(accepted.status, 200, accepted.text)
        assert.deepInclude(accepted.body.organization, { id: owner.org_id, name: "Team", role: "viewer" })
        const replayed = yield* caller.call("POST", `/v1/invitations/${id}/accept`, { headers })
        assert.deepStrictEqual([replayed.status, replayed.body], [200, accepted.body])
        refused(yield* caller.call("POST", `/v1/invitations/${id}/accept`), 404, "not_found")
      }
      assert.lengthOf(yield* organizationsOf(who), 3)
      const { body } = yield* who.call("GET", "/v1/auth/whoami")
      assert.deepStrictEqual([body.organization.id, body.invited_by], [who.org_id, null])
    })
  )

  it.effect("POST accept, 409: the inviter lost the right; nothing changes", () =>
    Effect.gen(function* () {
      const [owner, who] = [yield* founder(), yield* arrive()]
      const admin = yield* joined(owner, "admin")
      const id = yield* invite(admin, who.email, "admin")
      yield* owner.call("PATCH", `/v1/orgs/${owner.org_id}/members/${admin.user_id}`, { body: { role: "member" } })
      refused(yield* who.call("POST", `/v1/invitations/${id}/accept`), 409, "conflict")
      assert.deepStrictEqual(yield* organizationsOf(who), [who.org_id])
      assert.deepStrictEqual(yield* pendingOf(who), [id])
    })
  )

  it.effect("POST decline, 204: the organization may invite again; 404: a second time", () =>
    Effect.gen(function* () {
      const [owner, who] = [yield* founder(), yield* arrive()]
      const id = yield* invite(owner, who.email)
      const decline = who.call("POST", `/v1/invitations/${id}/decline`, {
        raw: "not json",
        headers: { "content-type": "text/plain" }
      })
      const declined = yield* decline
      assert.strictEqual(declined.status, 204, declined.text)
      refused(yield* decline, 404, "not_found")
      refused(yield* who.call("POST", `/v1/invitations/${id}/accept`), 404, "not_found")
      assert.deepStrictEqual(yield* pendingOf(who), [])
      assert.isString(yield* invite(owner, who.email))
    })
  )
})
