/** The contract of `InvitationStore`. Run it against every adapter. */
import { Effect, Option } from "effect"
import { encodeCursor, type PageRequest } from "../../src/Page.ts"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { OwnInvitation, StoredInvitation } from "../../src/records/accounts/Invitation.ts"
import { InvitationStore } from "../../src/records/accounts/InvitationStore.ts"
import { UserProfile } from "../../src/records/accounts/User.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { anInvitation, anOrganization, anOrgId, aText, at, aUser, firstPage } from "../records.ts"
import { inTransactionsAtOnce } from "../together.ts"

const anAddress = () => `${aText("bob").replace(" ", ".")}@example.com`

/** The invited person's view of an invitation, into an organization that is made for it. */
const seen = Effect.fnUntraced(function* ({ invited_by, org_id: id, ...rest }: StoredInvitation) {
  const organization = anOrganization({ id, name: aText("org") })
  yield* (yield* AccountStore).putOrganization(organization)
  return new OwnInvitation({
    ...rest,
    organization: { id, name: organization.name },
    invited_by: new UserProfile({ ...invited_by, name: null })
  })
})

export const invitationStoreContract = contract<AccountStore | InvitationStore | Transaction>(
  "InvitationStore",
  (it) => {
    it("an invitation is stored as it was added, and found in its own organization only", () =>
      Effect.gen(function* () {
        const store = yield* InvitationStore
        const invitation = anInvitation(anOrgId(), anAddress())
        assert.isTrue(yield* store.add(invitation, at(0)))
        assert.deepStrictEqual(yield* store.lock(invitation.org_id, invitation.id), Option.some(invitation))
        assert.isTrue(Option.isNone(yield* store.lock(anOrgId(), invitation.id)))
        assert.deepStrictEqual(yield* store.find(invitation.id), Option.some(invitation))
        assert.isTrue(Option.isNone(yield* store.find(anInvitation(anOrgId(), anAddress()).id)))
      }))

    it("exactly one of several simultaneous invitations of an address is added", () =>
      Effect.gen(function* () {
        const store = yield* InvitationStore
        const [org, email] = [anOrgId(), anAddress()]
        const added = yield* inTransactionsAtOnce(8, () => store.add(anInvitation(org, email), at(0)))
        assert.strictEqual(added.filter((it) => it).length, 1)
        assert.lengthOf((yield* store.list(org, firstPage)).items, 1)
      }))

    it("an invitation is not blocked by an accepted, revoked or expired one, nor by another organization's", () =>
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
      }))

    it("invitations of an organization are listed newest first, page by page", () =>
      Effect.gen(function* () {
        const store = yield* InvitationStore
        const org = anOrgId()
        const [a, b] = [anInvitation(org, anAddress()), anInvitation(org, anAddress())]
        yield* store.add(b, at(0))
        yield* store.add(a, at(0))
        assert.deepStrictEqual(yield* store.list(org, { limit: 2, after: null }), { items: [b, a], next_cursor: null })
        const next_cursor = encodeCursor(b.id)
        assert.deepStrictEqual(yield* store.list(org, { limit: 1, after: null }), { items: [b], next_cursor })
        assert.deepStrictEqual(yield* store.list(org, { limit: 1, after: b.id }), { items: [a], next_cursor: null })
      }))

    it("pending invitations of an address are found in all organizations, newest first", () =>
      Effect.gen(function* () {
        const store = yield* InvitationStore
        const email = anAddress()
        const older = anInvitation(anOrgId(), email)
        const newer = anInvitation(anOrgId(), email)
        for (const it of [newer, older, anInvitation(anOrgId(), email, { expires_at: at(5) })])
          yield* store.add(it, at(0))
        yield* store.add(anInvitation(anOrgId(), anAddress()), at(0))
        const [first, second] = [yield* seen(newer), yield* seen(older)]
        const pending = (page: PageRequest) => store.pendingFor(email, at(5), page)
        assert.deepStrictEqual(yield* pending(firstPage), { items: [first, second], next_cursor: null })
        const next_cursor = encodeCursor(newer.id)
        assert.deepStrictEqual(yield* pending({ limit: 1, after: null }), { items: [first], next_cursor })
        assert.deepStrictEqual(yield* pending({ limit: 1, after: newer.id }), { items: [second], next_cursor: null })
        const which = ({ id, org_id }: typeof older) => ({ id, org_id })
        assert.deepStrictEqual(yield* store.oldestFor(email, at(5), 9), [which(older), which(newer)])
        assert.deepStrictEqual(yield* store.oldestFor(email, at(5), 1), [which(older)])
      }))

    it("a pending invitation has the names of its organization and of its inviter", () =>
      Effect.gen(function* () {
        const accounts = yield* AccountStore
        const store = yield* InvitationStore
        const [email, inviter] = [anAddress(), aUser({ name: "Ada" })]
        yield* accounts.putUser(inviter)
        const [known, unknown, ended] = [
          anInvitation(anOrgId(), email, { invited_by: inviter.ref }),
          anInvitation(anOrgId(), email),
          anInvitation(anOrgId(), email)
        ]
        for (const it of [known, unknown, ended]) yield* store.add(it, at(0))
        yield* accounts.putOrganization(anOrganization({ id: known.org_id, name: "Engines" }))
        yield* accounts.putOrganization(anOrganization({ id: unknown.org_id, name: "Looms" }))
        const { items } = yield* store.pendingFor(email, at(5), firstPage)
        assert.deepStrictEqual(
          items.map(({ invited_by, organization }) => [organization.name, invited_by.id, invited_by.name]),
          [
            ["Looms", unknown.invited_by.id, null],
            ["Engines", inviter.id, "Ada"]
          ]
        )
      }))

    it("transactions that lock an invitation run one after another", () =>
      Effect.gen(function* () {
        const store = yield* InvitationStore
        const { id, org_id, ...rest } = anInvitation(anOrgId(), anAddress())
        yield* store.add(new StoredInvitation({ id, org_id, ...rest }), at(0))
        const honoured = yield* inTransactionsAtOnce(8, () =>
          Effect.gen(function* () {
            const found = yield* Effect.fromOption(yield* store.lock(org_id, id))
            if (found.accepted_at !== null) return 0
            yield* store.update(new StoredInvitation({ ...found, accepted_at: at(1) }))
            return 1
          })
        )
        assert.deepStrictEqual(honoured.toSorted(), [0, 0, 0, 0, 0, 0, 0, 1])
      }))
  }
)
