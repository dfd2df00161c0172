/** The contract of `InvitationStore`. Run it against every adapter. */
import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Option } from "effect"
import { StoredInvitation } from "../../src/accounts/Invitation.ts"
import { InvitationStore } from "../../src/accounts/InvitationStore.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { anInvitation, anOrgId, aText, at } from "../records.ts"
import { inTransactionsAtOnce } from "../together.ts"

const anAddress = () => `${aText("bob").replace(" ", ".")}@example.com`

export const invitationStoreContract = <E>(name: string, adapter: Layer.Layer<InvitationStore | Transaction, E>) =>
  layer(adapter, { excludeTestServices: true })(`InvitationStore: ${name}`, (it) => {
    it.effect("an invitation is stored as it was added, and found in its own organization only", () =>
      Effect.gen(function* () {
        const store = yield* InvitationStore
        const invitation = anInvitation(anOrgId(), anAddress())
        assert.isTrue(yield* store.add(invitation, at(0)))
        assert.deepStrictEqual(yield* store.lock(invitation.org_id, invitation.id), Option.some(invitation))
        assert.isTrue(Option.isNone(yield* store.lock(anOrgId(), invitation.id)))
      })
    )

    it.effect("one of several simultaneous invitations of an address is added", () =>
      Effect.gen(function* () {
        const store = yield* InvitationStore
        const [org, email] = [anOrgId(), anAddress()]
        const added = yield* inTransactionsAtOnce(8, () => store.add(anInvitation(org, email), at(0)))
        assert.strictEqual(added.filter((it) => it).length, 1)
        assert.lengthOf(yield* store.list(org), 1)
      })
    )

    it.effect(
      "an invitation is not blocked by an accepted, revoked or expired one, nor by another organization's",
      () =>
        Effect.gen(function* () {
          const store = yield* InvitationStore
          const [org, email] = [anOrgId(), anAddress()]
          const first = anInvitation(org, email)
          yield* store.add(first, at(0))
          assert.isTrue(yield* store.add(anInvitation(anOrgId(), email), at(0)))
          yield* store.update(new StoredInvitation({ ...first, accepted_at: at(1) }))
          const second = anInvitation(org, email)
          assert.isTrue(yield* store.add(second, at(1)))
          yield* store.update(new StoredInvitation({ ...second, revoked_at: at(2) }))
          assert.isTrue(yield* store.add(anInvitation(org, email, { expires_at: at(100) }), at(2)))
          assert.isFalse(yield* store.add(anInvitation(org, email), at(99)))
          assert.isTrue(yield* store.add(anInvitation(org, email, { expires_at: at(200) }), at(100)))
        })
    )

    it.effect("invitations of an organization are listed newest first", () =>
      Effect.gen(function* () {
        const store = yield* InvitationStore
        const org = anOrgId()
        const [a, b] = [anInvitation(org, anAddress()), anInvitation(org, anAddress())]
        yield* store.add(b, at(0))
        yield* store.add(a, at(0))
        assert.deepStrictEqual(yield* store.list(org), [b, a])
      })
    )

    it.effect("pending invitations of an address are found in all organizations, newest first", () =>
      Effect.gen(function* () {
        const store = yield* InvitationStore
        const email = anAddress()
        const older = anInvitation(anOrgId(), email)
        const newer = anInvitation(anOrgId(), email)
        for (const it of [newer, older, anInvitation(anOrgId(), email, { expires_at: at(5) })])
          yield* store.add(it, at(0))
        yield* store.add(anInvitation(anOrgId(), anAddress()), at(0))
        assert.deepStrictEqual(yield* store.lockPendingFor(email, at(5)), [newer, older])
      })
    )

    it.effect("one of several simultaneous sign-ins accepts an invitation", () =>
      Effect.gen(function* () {
        const store = yield* InvitationStore
        const email = anAddress()
        yield* store.add(anInvitation(anOrgId(), email), at(0))
        const honoured = yield* inTransactionsAtOnce(8, () =>
          Effect.gen(function* () {
            const pending = yield* store.lockPendingFor(email, at(1))
            for (const it of pending) yield* store.update(new StoredInvitation({ ...it, accepted_at: at(1) }))
            return pending.length
          })
        )
        assert.deepStrictEqual(honoured.toSorted(), [0, 0, 0, 0, 0, 0, 0, 1])
      })
    )
  })
