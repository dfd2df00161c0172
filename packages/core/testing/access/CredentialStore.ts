/** The contract of `CredentialStore`, which reads the records of other stores. Run it against every adapter. */
import { Effect, Option } from "effect"
import { CredentialStore } from "../../src/records/access/CredentialStore.ts"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { User, UserProfile } from "../../src/records/accounts/User.ts"
import { ApiKeyStore } from "../../src/records/keys/ApiKeyStore.ts"
import { SessionStore } from "../../src/records/sessions/SessionStore.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aMembership, anOrganization, aSession, aStoredKey, aText, at, aUser } from "../records.ts"
import { undone } from "../together.ts"

/** A member with a key and a session. */
const settled = Effect.gen(function* () {
  const accounts = yield* AccountStore
  const [user, organization] = [aUser({ enabled_at: at(1) }), anOrganization()]
  const secrets = [
    { digest: aText("digest"), pepper_id: "p1", dies_at: null },
    { digest: aText("digest"), pepper_id: "p2", dies_at: at(50) }
  ]
  const key = aStoredKey({ created_by: user.ref, expires_at: at(9) }, { org_id: organization.id, secrets })
  const session = aSession(user.id, { active_org_id: organization.id })
  const invited_by = new UserProfile({ ...aUser().ref, name: "Grace" })
  yield* accounts.putUser(user)
  yield* accounts.putOrganization(organization)
  yield* accounts.putMembership(aMembership(organization.id, user.id, { role: "admin", invited_by }))
  yield* (yield* ApiKeyStore).insert(key)
  yield* (yield* SessionStore).insert(session)
  return { user, organization, invited_by, key, session, digest: secrets[1]?.digest ?? "" }
})

export const credentialStoreContract = contract<
  AccountStore | ApiKeyStore | CredentialStore | SessionStore | Transaction
>("CredentialStore", (it) => {
  it("a key is found by any digest of its secret, with user, organization, role and an unconfirmed invitation", () =>
    Effect.gen(function* () {
      const store = yield* CredentialStore
      const { digest, invited_by, key, organization, user } = yield* settled
      assert.deepStrictEqual(
        yield* store.byKeyDigest([aText("unknown"), digest]),
        Option.some({ key, user, organization, role: "admin", invited_by })
      )
      assert.isTrue(Option.isNone(yield* store.byKeyDigest([aText("unknown")])))
    }))

  it("a session is found with the role of its user in an organization", () =>
    Effect.gen(function* () {
      const store = yield* CredentialStore
      const { invited_by, organization, session, user } = yield* settled
      assert.deepStrictEqual(
        yield* store.bySession(session.id, organization.id),
        Option.some({ session, user, organization, role: "admin", invited_by })
      )
      const foreign = (yield* settled).organization
      assert.deepStrictEqual(
        yield* store.bySession(session.id, foreign.id),
        Option.some({ session, user, organization: foreign, role: null, invited_by: null })
      )
      assert.isTrue(Option.isNone(yield* store.bySession(aSession(user.id).id, organization.id)))
    }))

  it("a demotion, removal, disabling, revocation or deleted organization shows at once", () =>
    Effect.gen(function* () {
      const store = yield* CredentialStore
      const accounts = yield* AccountStore
      const { digest, key, organization, session, user } = yield* settled
      const both = Effect.gen(function* () {
        const byKey = yield* Effect.fromOption(yield* store.byKeyDigest([digest]))
        const bySession = yield* Effect.fromOption(yield* store.bySession(session.id, organization.id))
        assert.deepStrictEqual(
          [byKey.user, byKey.organization, byKey.role],
          [bySession.user, bySession.organization, bySession.role]
        )
        return byKey
      })
      yield* accounts.putMembership(aMembership(organization.id, user.id, { role: "viewer" }))
      assert.strictEqual((yield* both).role, "viewer")
      yield* accounts.removeMembership(organization.id, user.id)
      assert.isNull((yield* both).role)
      yield* accounts.putUser(new User({ ...user, disabled_at: at(3) }))
      assert.deepStrictEqual((yield* both).user.disabled_at, at(3))
      yield* (yield* ApiKeyStore).revoke(organization.id, key.key.id, "membership_ended", at(4))
      assert.strictEqual((yield* both).key.revoked_reason, "membership_ended")
      yield* accounts.removeOrganization(organization.id)
      assert.isNull((yield* both).organization)
    }))

  it("credentials are read within the running transaction", () =>
    Effect.gen(function* () {
      const store = yield* CredentialStore
      const accounts = yield* AccountStore
      const { digest, organization, user } = yield* settled
      yield* undone(
        Effect.gen(function* () {
          yield* accounts.removeMembership(organization.id, user.id)
          assert.isNull((yield* Effect.fromOption(yield* store.byKeyDigest([digest]))).role)
        })
      )
      assert.strictEqual((yield* Effect.fromOption(yield* store.byKeyDigest([digest]))).role, "admin")
    }))

  it("a held standing has the user, the role and the key as the running transaction sees them", () =>
    Effect.gen(function* () {
      const store = yield* CredentialStore
      const accounts = yield* AccountStore
      const { key, organization, user } = yield* settled
      const held = (id: typeof key.key.id | null) => store.hold(organization.id, user.id, id)
      assert.deepStrictEqual(yield* held(null), Option.some({ user, role: "admin", key: null }))
      assert.deepStrictEqual(yield* held(key.key.id), Option.some({ user, role: "admin", key: key.key }))
      assert.isTrue(Option.isNone(yield* held((yield* settled).key.key.id)), "a key of another organization")
      yield* (yield* ApiKeyStore).revoke(organization.id, key.key.id, "revoked", at(4))
      assert.deepStrictEqual(Option.getOrThrow(yield* held(key.key.id)).key?.revoked_at, at(4))
      yield* undone(
        Effect.gen(function* () {
          yield* accounts.removeMembership(organization.id, user.id)
          assert.isTrue(Option.isNone(yield* held(null)))
        })
      )
      assert.isTrue(Option.isSome(yield* held(null)))
    }))
})
