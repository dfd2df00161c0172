/** The contract of `AccountStore`. Run it against every adapter. */
import { Effect, Option } from "effect"
import { encodeCursor, type PageRequest } from "../../src/Page.ts"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { InvitationStore } from "../../src/records/accounts/InvitationStore.ts"
import { Organization } from "../../src/records/accounts/Organization.ts"
import { User, UserProfile } from "../../src/records/accounts/User.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aMembership, anInvitation, anOrganization, aText, at, aUser, firstPage } from "../records.ts"
import { atOnce, inTransactionsAtOnce, undone } from "../together.ts"

export const accountStoreContract = contract<AccountStore | InvitationStore | Transaction>("AccountStore", (it) => {
  it("a user is stored as it was put, and a later put replaces it", () =>
    Effect.gen(function* () {
      const store = yield* AccountStore
      const user = aUser({ enabled_at: at(1), email: null })
      assert.isTrue(yield* store.putUser(user))
      assert.deepStrictEqual(yield* store.findUser(user.id), Option.some(user))
      const changed = new User({ ...user, name: null, disabled_at: at(2) })
      assert.isTrue(yield* store.putUser(changed))
      assert.deepStrictEqual(yield* store.findUser(user.id), Option.some(changed))
    }))

  it("a user is found by issuer and subject together", () =>
    Effect.gen(function* () {
      const store = yield* AccountStore
      const user = aUser()
      yield* store.putUser(user)
      assert.deepStrictEqual(yield* store.lockUserByIdentity(user.issuer, user.subject), Option.some(user))
      assert.isTrue(Option.isNone(yield* store.lockUserByIdentity("https://other.example.com", user.subject)))
    }))

  it("exactly one of several simultaneous first sign-ins of a person creates the user", () =>
    Effect.gen(function* () {
      const store = yield* AccountStore
      const subject = aText("subject")
      const made = yield* inTransactionsAtOnce(8, () => store.putUser(aUser({ subject })))
      assert.strictEqual(made.filter((it) => it).length, 1)
    }))

  it("the identity of a user is never given to another user", () =>
    Effect.gen(function* () {
      const store = yield* AccountStore
      const [ada, bob] = [aUser(), aUser()]
      yield* store.putUser(ada)
      yield* store.putUser(bob)
      assert.isFalse(yield* store.putUser(new User({ ...bob, subject: ada.subject })))
      assert.deepStrictEqual(yield* store.findUser(bob.id), Option.some(bob))
    }))

  it("users are found by their address in any ASCII case, and by no other address", () =>
    Effect.gen(function* () {
      const store = yield* AccountStore
      const name = aText("Grace")
      const [first, second] = [aUser({ email: `${name}@Example.com` }), aUser({ email: `${name}@example.com` })]
      for (const user of [second, first, aUser({ email: `x${name}@example.com` }), aUser({ email: null })])
        yield* store.putUser(user)
      const found = yield* store.usersByEmail(`${name.toUpperCase()}@EXAMPLE.com`)
      assert.deepStrictEqual(
        found.map(({ id }) => id),
        [first.id, second.id].toSorted()
      )
      assert.deepStrictEqual(yield* store.usersByEmail("%@example.com"), [])
    }))

  it("users are listed oldest first", () =>
    Effect.gen(function* () {
      const store = yield* AccountStore
      yield* atOnce(3, () => store.putUser(aUser()))
      const ids = (yield* store.users(firstPage)).items.map((user) => user.id)
      assert.deepStrictEqual(ids, ids.toSorted())
      const { items, next_cursor } = yield* store.users({ limit: 2, after: null })
      assert.deepStrictEqual(
        items.map((user) => user.id),
        ids.slice(0, 2)
      )
      assert.strictEqual(next_cursor, encodeCursor(ids[1] ?? ""))
      const rest = yield* store.users({ limit: 1000, after: ids[1] ?? "" })
      assert.deepStrictEqual(
        rest.items.map((user) => user.id),
        ids.slice(2)
      )
    }))

  it("an organization is held while it exists", () =>
    Effect.gen(function* () {
      const store = yield* AccountStore
      const organization = anOrganization()
      yield* store.putOrganization(organization)
      assert.deepStrictEqual(yield* store.holdOrganization(organization.id), Option.some(organization))
      yield* store.removeOrganization(organization.id)
      assert.isTrue(Option.isNone(yield* store.holdOrganization(organization.id)))
    }))

  it("transactions that lock an organization run one after another", () =>
    Effect.gen(function* () {
      const store = yield* AccountStore
      const organization = anOrganization({ name: "" })
      yield* store.putOrganization(organization)
      yield* inTransactionsAtOnce(8, () =>
        Effect.gen(function* () {
          const found = yield* Effect.fromOption(yield* store.lockOrganization(organization.id))
          yield* store.putOrganization(new Organization({ ...found, name: `${found.name}x` }))
        })
      )
      const found = yield* store.findOrganization(organization.id)
      assert.deepStrictEqual(
        Option.map(found, (it) => it.name),
        Option.some("x".repeat(8))
      )
    }))

  it("transactions that lock a user run one after another", () =>
    Effect.gen(function* () {
      const store = yield* AccountStore
      const user = aUser({ name: "" })
      yield* store.putUser(user)
      yield* inTransactionsAtOnce(8, () =>
        Effect.gen(function* () {
          const found = yield* Effect.fromOption(yield* store.lockUserByIdentity(user.issuer, user.subject))
          yield* store.putUser(new User({ ...found, name: `${found.name}x` }))
        })
      )
      assert.deepStrictEqual(
        Option.map(yield* store.findUser(user.id), (it) => it.name),
        Option.some("x".repeat(8))
      )
    }))

  it("removing an organization removes its memberships and invitations, and nothing else", () =>
    Effect.gen(function* () {
      const store = yield* AccountStore
      const invitations = yield* InvitationStore
      const [gone, stays, user] = [anOrganization(), anOrganization(), aUser()]
      yield* store.putUser(user)
      for (const organization of [gone, stays]) {
        yield* store.putOrganization(organization)
        yield* store.putMembership(aMembership(organization.id, user.id))
        yield* invitations.add(anInvitation(organization.id, "bob@example.com"), at(0))
      }
      yield* store.removeOrganization(gone.id)
      assert.isTrue(Option.isNone(yield* store.findOrganization(gone.id)))
      assert.isTrue(Option.isNone(yield* store.findMembership(gone.id, user.id)))
      assert.deepStrictEqual((yield* invitations.list(gone.id, firstPage)).items, [])
      assert.isTrue(Option.isSome(yield* store.findMembership(stays.id, user.id)))
      assert.lengthOf((yield* invitations.list(stays.id, firstPage)).items, 1)
    }))

  it("the organization that a first sign-in led into is found until the membership is confirmed", () =>
    Effect.gen(function* () {
      const store = yield* AccountStore
      const [{ id: org }, { id: user }] = [anOrganization(), aUser()]
      const invited_by = new UserProfile({ ...aUser().ref, name: null })
      const landed = aMembership(org, user, { invited_by })
      yield* store.putMembership(aMembership(anOrganization().id, user))
      assert.isTrue(Option.isNone(yield* store.landingOf(user)))
      yield* store.putMembership(landed)
      yield* store.putMembership(aMembership(org, aUser().id))
      assert.deepStrictEqual(yield* store.landingOf(user), Option.some(org))
      assert.deepStrictEqual(yield* store.findMembership(org, user), Option.some(landed))
      assert.isTrue(Option.isNone(yield* store.landingOf(aUser().id)))
      yield* store.putMembership(aMembership(org, user))
      assert.isTrue(Option.isNone(yield* store.landingOf(user)))
    }))

  it("a person has one membership in an organization, and removing it reports whether there was one", () =>
    Effect.gen(function* () {
      const store = yield* AccountStore
      const { id: org } = anOrganization()
      const { id: user } = aUser()
      yield* store.putMembership(aMembership(org, user))
      const promoted = aMembership(org, user, { role: "owner" })
      yield* store.putMembership(promoted)
      assert.deepStrictEqual(yield* store.findMembership(org, user), Option.some(promoted))
      assert.isTrue(yield* store.removeMembership(org, user))
      assert.isFalse(yield* store.removeMembership(org, user))
    }))

  it("members are listed newest account first, and a person's organizations oldest first, page by page", () =>
    Effect.gen(function* () {
      const store = yield* AccountStore
      const [first, second] = [anOrganization(), anOrganization()]
      const [ada, bob, eve] = [aUser({ email: null }), aUser(), aUser()]
      for (const user of [ada, bob, eve]) yield* store.putUser(user)
      for (const organization of [second, first]) yield* store.putOrganization(organization)
      yield* store.putMembership(aMembership(first.id, ada.id, { joined_at: at(2) }))
      yield* store.putMembership(aMembership(first.id, eve.id, { joined_at: at(1) }))
      yield* store.putMembership(aMembership(first.id, bob.id, { joined_at: at(1), role: "viewer" }))
      yield* store.putMembership(aMembership(second.id, bob.id, { role: "owner" }))
      const members = [
        { email: eve.email, role: "member", user_id: eve.id },
        { email: bob.email, role: "viewer", user_id: bob.id },
        { email: null, role: "member", user_id: ada.id }
      ]
      const membersIn = (page: PageRequest) =>
        Effect.map(store.members(first.id, page), ({ items, next_cursor }) => ({
          items: items.map(({ email, role, user_id }) => ({ email, role, user_id })),
          next_cursor
        }))
      assert.deepStrictEqual(yield* membersIn(firstPage), { items: members, next_cursor: null })
      assert.deepStrictEqual(yield* membersIn({ limit: 2, after: null }), {
        items: members.slice(0, 2),
        next_cursor: encodeCursor(bob.id)
      })
      assert.deepStrictEqual(yield* membersIn({ limit: 2, after: bob.id }), {
        items: members.slice(2),
        next_cursor: null
      })
      const organizationsIn = (page: PageRequest) =>
        Effect.map(store.organizationsOf(bob.id, page), ({ items, next_cursor }) => ({
          items: items.map(({ id, role }) => [id, role]),
          next_cursor
        }))
      assert.deepStrictEqual(yield* organizationsIn({ limit: 1, after: null }), {
        items: [[first.id, "viewer"]],
        next_cursor: encodeCursor(first.id)
      })
      assert.deepStrictEqual(yield* organizationsIn({ limit: 1, after: first.id }), {
        items: [[second.id, "owner"]],
        next_cursor: null
      })
    }))

  it("a member is found with their role, and another owner only where there is one", () =>
    Effect.gen(function* () {
      const store = yield* AccountStore
      const [organization, elsewhere] = [anOrganization(), anOrganization()]
      const [ada, bob] = [aUser(), aUser()]
      for (const user of [ada, bob]) yield* store.putUser(user)
      yield* store.putMembership(aMembership(organization.id, ada.id, { role: "owner" }))
      yield* store.putMembership(aMembership(organization.id, bob.id))
      yield* store.putMembership(aMembership(elsewhere.id, bob.id, { role: "owner" }))
      assert.deepStrictEqual(
        Option.map(yield* store.findMember(organization.id, bob.id), ({ email, role }) => [email, role]),
        Option.some([bob.email, "member"])
      )
      assert.isTrue(Option.isNone(yield* store.findMember(elsewhere.id, ada.id)))
      assert.isFalse(yield* store.hasOtherOwner(organization.id, ada.id))
      assert.isTrue(yield* store.hasOtherOwner(organization.id, bob.id))
      yield* store.putMembership(aMembership(organization.id, bob.id, { role: "owner" }))
      assert.isTrue(yield* store.hasOtherOwner(organization.id, ada.id))
    }))

  it("writes to accounts are undone with their transaction", () =>
    Effect.gen(function* () {
      const store = yield* AccountStore
      const user = aUser()
      yield* undone(
        Effect.gen(function* () {
          yield* store.putUser(user)
          assert.isTrue(Option.isSome(yield* store.findUser(user.id)))
        })
      )
      assert.isTrue(Option.isNone(yield* store.findUser(user.id)))
    }))
})
