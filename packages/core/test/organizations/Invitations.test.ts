import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { InvitationId } from "../../src/Ids.ts"
import { Invitations } from "../../src/services/organizations/Invitations.ts"
import { firstPage } from "../../testing/records.ts"
import { People, signedIn, signIn, tagOf } from "../memory/core.ts"

const week = 7 * 86_400_000

describe("Invitations", () => {
  it.effect("an address has one pending invitation, whatever its spelling, also when invited concurrently", () =>
    Effect.gen(function* () {
      const invitations = yield* Invitations
      const ada = yield* signedIn("ada")
      const made = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? "Bob@Example.com" : " bob@example.COM ")),
        (email) => Effect.exit(invitations.create(ada, { email, role: "member" })),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(made.filter(({ _tag }) => _tag === "Success").length, 1)
      const [only] = (yield* invitations.list(ada.org_id, firstPage)).items
      assert.strictEqual(only?.email, "bob@example.com")
    }).pipe(Effect.provide(People))
  )

  it.effect("an accepted, revoked or expired invitation does not block a new one", () =>
    Effect.gen(function* () {
      const invitations = yield* Invitations
      const ada = yield* signedIn("ada")
      const invite = Effect.suspend(() => invitations.create(ada, { email: "bob@example.com", role: "member" }))
      yield* invitations.revoke(ada, (yield* invite).id)
      yield* TestClock.adjust("1 second")
      yield* invite
      yield* TestClock.adjust(week)
      yield* invite
      yield* signIn("bob")
      yield* TestClock.adjust("1 second")
      yield* invite
      assert.deepStrictEqual(
        (yield* invitations.list(ada.org_id, firstPage)).items.map(({ status }) => status),
        ["pending", "accepted", "expired", "revoked"]
      )
    }).pipe(Effect.provide(People))
  )

  it.effect("an invitation that is resent expires seven days after the resend", () =>
    Effect.gen(function* () {
      const invitations = yield* Invitations
      const ada = yield* signedIn("ada")
      const { id } = yield* invitations.create(ada, { email: "bob@example.com", role: "member" })
      yield* TestClock.adjust(week - 1)
      const resent = yield* invitations.resend(ada, id)
      yield* TestClock.adjust(week - 1)
      assert.strictEqual((yield* invitations.list(ada.org_id, firstPage)).items[0]?.status, "pending")
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* invitations.list(ada.org_id, firstPage)).items[0]?.status, "expired")
      assert.strictEqual(resent.expires_at.epochMilliseconds, 2 * week - 1)
      assert.strictEqual(yield* tagOf(invitations.resend(ada, id)), "Conflict")
      assert.strictEqual(yield* tagOf(invitations.revoke(ada, id)), "Conflict")
    }).pipe(Effect.provide(People))
  )

  it.effect("an invitation that was revoked is not found any more, whether resent or revoked", () =>
    Effect.gen(function* () {
      const invitations = yield* Invitations
      const ada = yield* signedIn("ada")
      const { id } = yield* invitations.create(ada, { email: "bob@example.com", role: "member" })
      yield* invitations.revoke(ada, id)
      assert.strictEqual(yield* tagOf(invitations.revoke(ada, id)), "NotFound")
      assert.strictEqual(yield* tagOf(invitations.resend(ada, id)), "NotFound")
    }).pipe(Effect.provide(People))
  )

  it.effect("an invitation of another organization is not found", () =>
    Effect.gen(function* () {
      const invitations = yield* Invitations
      const [ada, eve] = [yield* signedIn("ada"), yield* signedIn("eve")]
      const { id } = yield* invitations.create(ada, { email: "bob@example.com", role: "member" })
      for (const which of [id, InvitationId.make("nonsense")])
        for (const ask of [invitations.resend(eve, which), invitations.revoke(eve, which)])
          assert.strictEqual(yield* tagOf(ask), "NotFound")
      assert.strictEqual((yield* invitations.list(eve.org_id, firstPage)).items.length, 0)
    }).pipe(Effect.provide(People))
  )

  it.effect("an invitation with a malformed address or an unknown role is refused", () =>
    Effect.gen(function* () {
      const invitations = yield* Invitations
      const ada = yield* signedIn("ada")
      for (const wanted of [
        { email: "nobody", role: "member" },
        { email: "bob@example.com", role: "emperor" },
        { email: "bob@example.com", role: "toString" }
      ])
        assert.strictEqual(yield* tagOf(invitations.create(ada, wanted)), "InvalidMember")
    }).pipe(Effect.provide(People))
  )

  it.effect("an invitation to a role above the caller's own cannot be created, resent or revoked", () =>
    Effect.gen(function* () {
      const invitations = yield* Invitations
      const ada = yield* signedIn("ada")
      const { id } = yield* invitations.create(ada, { email: "bob@example.com", role: "owner" })
      yield* invitations.create(ada, { email: "cy@example.com", role: "admin" })
      const admin = yield* signedIn("cy") // signs in to the inviting organization
      assert.strictEqual(admin.org_id, ada.org_id)
      assert.strictEqual(yield* tagOf(invitations.create(admin, { email: "d@example.com", role: "owner" })), "Refused")
      assert.strictEqual(yield* tagOf(invitations.resend(admin, id)), "Refused")
      assert.strictEqual(yield* tagOf(invitations.revoke(admin, id)), "Refused")
      yield* invitations.create(admin, { email: "d@example.com", role: "admin" })
    }).pipe(Effect.provide(People))
  )
})
