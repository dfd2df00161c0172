import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { type OrgId, UserId } from "../../src/Ids.ts"
import { Refused } from "../../src/Refusals.ts"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import type { SessionCaller } from "../../src/rules/authorization/Principal.ts"
import { Invitations } from "../../src/services/organizations/Invitations.ts"
import { OperatorAccounts } from "../../src/services/organizations/OperatorAccounts.ts"
import { Organizations } from "../../src/services/organizations/Organizations.ts"
import { Sessions } from "../../src/services/sign-in/Sessions.ts"
import { aProject, firstPage } from "../../testing/records.ts"
import {
  acceptAll,
  Boundary,
  callerOf,
  keyCallerOf,
  logged,
  MortalCore,
  People,
  sessionCallerOf,
  signedIn,
  signIn,
  tagOf
} from "../memory/core.ts"

/** A caller whose session has this organization active. */
const actingIn = (name: string, org: OrgId) =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const { access_token } = yield* signIn(name)
    const moved = yield* sessions.switchOrg(yield* sessionCallerOf(access_token), org)
    return yield* sessionCallerOf(moved.access_token)
  })

/** A team with an owner and one member per role; each signs in as `<role>-<index>`. */
const team = (...roles: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const organizations = yield* Organizations
    const invitations = yield* Invitations
    const { access_token } = yield* signIn("founder")
    const { id } = yield* organizations.create(yield* sessionCallerOf(access_token), "Team")
    const founder = yield* actingIn("founder", id)
    const others: Array<SessionCaller> = []
    for (const [index, role] of roles.entries()) {
      yield* invitations.create(founder, { email: `${role}-${index}@example.com`, role })
      yield* TestClock.adjust("1 second")
      yield* signIn(`${role}-${index}`)
      others.push(yield* actingIn(`${role}-${index}`, id))
    }
    return { founder, id, others }
  })

const plain = { confirmed: false, hand_over_credentials: false }
const confirmed = { confirmed: true, hand_over_credentials: false }

describe("The members of an organization", () => {
  it.effect("members are changed only by callers with the permission, to roles that the caller may grant", () =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const { founder, others } = yield* team("admin", "member", "owner")
      const [admin, member, owner] = others
      if (admin === undefined || member === undefined || owner === undefined) throw new Error("no team")
      const asked = (by: SessionCaller, whom: SessionCaller, role: string) =>
        organizations.changeRole(by, whom.user.id, role, false)
      assert.strictEqual((yield* asked(admin, member, "admin")).role, "admin")
      assert.strictEqual(yield* tagOf(asked(admin, member, "owner")), "Refused")
      assert.strictEqual(yield* tagOf(asked(admin, owner, "member")), "Refused")
      assert.strictEqual(yield* tagOf(organizations.removeMember(admin, owner.user.id, confirmed)), "Refused")
      assert.strictEqual((yield* asked(founder, owner, "member")).role, "member")
      assert.strictEqual(yield* tagOf(asked(founder, owner, "future")), "InvalidMember")
      const stranger = UserId.make("0198f3d2-7c1a-7b44-9c55-2f1e6a0b7d10")
      assert.strictEqual(yield* tagOf(organizations.changeRole(founder, stranger, "member", false)), "NotFound")
      assert.strictEqual(yield* tagOf(organizations.removeMember(founder, stranger, plain)), "NotFound")
    }).pipe(Effect.provide(People))
  )

  it.effect("a role change returns the changed member, even if the member is removed right after the commit", () =>
    Effect.gen(function* () {
      const { changeRole } = yield* Organizations
      const { removeMembership } = yield* AccountStore
      const boundary = yield* Boundary
      const { founder, id, others } = yield* team("member")
      const [member] = others
      if (member === undefined) throw new Error("no team")
      let crossed = 0
      boundary.cross = Effect.suspend(() => {
        crossed += 1
        return crossed === 2 ? Effect.orDie(removeMembership(id, member.user.id)) : Effect.void
      })
      const changed = yield* changeRole(founder, member.user.id, "viewer", false)
      assert.deepStrictEqual([changed.user_id, changed.role, crossed], [member.user.id, "viewer", 2])
    }).pipe(Effect.provide(MortalCore))
  )

  it.effect("a caller demoted or removed after the request was admitted cannot change members", () =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const { changeRole, remove, removeMember, rename } = organizations
      const { founder, others } = yield* team("owner", "owner", "member")
      const [demoted, removed, member] = others
      if (demoted === undefined || removed === undefined || member === undefined) throw new Error("no team")
      yield* changeRole(founder, demoted.user.id, "admin", false)
      yield* removeMember(founder, removed.user.id, plain)
      const refusal = <A, R>(call: Effect.Effect<A, { readonly _tag: string }, R>) =>
        Effect.map(Effect.flip(call), (error) => (error instanceof Refused ? error.code : error._tag))
      const asked = (by: SessionCaller) =>
        Effect.all([
          refusal(changeRole(by, founder.user.id, "member", false)),
          refusal(removeMember(by, founder.user.id, plain)),
          refusal(changeRole(by, member.user.id, "owner", false)),
          refusal(remove(by))
        ])
      assert.deepStrictEqual(
        yield* asked(demoted),
        Array.from({ length: 4 }, () => "role_insufficient")
      )
      assert.deepStrictEqual(
        yield* asked(removed),
        Array.from({ length: 4 }, () => "not_a_member")
      )
      assert.strictEqual(yield* refusal(rename(removed, "Mine")), "not_a_member")
      assert.strictEqual(yield* refusal(removeMember(removed, removed.user.id, confirmed)), "not_a_member")
      // The demoted caller keeps the rights of an admin.
      yield* rename(demoted, "Ours")
      yield* removeMember(demoted, member.user.id, plain)
    }).pipe(Effect.provide(People))
  )

  it.effect("an organization keeps its last owner, also when two owners demote each other concurrently", () =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const { founder, others } = yield* team("owner")
      const [second] = others
      if (second === undefined) throw new Error("no second owner")
      const exits = yield* Effect.all(
        [
          Effect.exit(organizations.changeRole(founder, second.user.id, "member", false)),
          Effect.exit(organizations.changeRole(second, founder.user.id, "member", false))
        ],
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(exits.map(({ _tag }) => _tag).toSorted(), ["Failure", "Success"])
      const { items: members } = yield* organizations.members(founder.org_id, firstPage)
      const left = members.filter(({ role }) => role === "owner")
      assert.strictEqual(left.length, 1)
      const last = left[0]?.user_id === founder.user.id ? founder : second
      assert.strictEqual(yield* tagOf(organizations.changeRole(last, last.user.id, "member", true)), "Conflict")
      assert.strictEqual(yield* tagOf(organizations.removeMember(last, last.user.id, confirmed)), "Conflict")
    }).pipe(Effect.provide(People))
  )

  it.effect("members leave or demote themselves only with an explicit confirmation", () =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const { others } = yield* team("admin", "viewer")
      const [admin, viewer] = others
      if (admin === undefined || viewer === undefined) throw new Error("no team")
      assert.strictEqual(yield* tagOf(organizations.changeRole(admin, admin.user.id, "viewer", false)), "Conflict")
      assert.strictEqual((yield* organizations.changeRole(admin, admin.user.id, "viewer", true)).role, "viewer")
      assert.strictEqual(yield* tagOf(organizations.removeMember(viewer, viewer.user.id, plain)), "Conflict")
      yield* organizations.removeMember(viewer, viewer.user.id, confirmed)
      assert.strictEqual((yield* organizations.members(viewer.org_id, firstPage)).items.length, 2)
    }).pipe(Effect.provide(People))
  )

  it.effect("members cannot leave their personal organization, even if it has another owner", () =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const invitations = yield* Invitations
      const ada = yield* sessionCallerOf((yield* signIn("ada")).access_token)
      yield* invitations.create(ada, { email: "bob@example.com", role: "owner" })
      yield* signIn("bob")
      const bob = yield* actingIn("bob", ada.org_id)
      for (const by of [ada, bob])
        assert.strictEqual(yield* tagOf(organizations.removeMember(by, ada.user.id, confirmed)), "Conflict")
      yield* organizations.removeMember(bob, bob.user.id, confirmed)
    }).pipe(Effect.provide(People))
  )
})

describe("A removal from an organization", () => {
  it.effect("removal from an organization ends the person's keys there; rejoining restores none", () =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const invitations = yield* Invitations
      const { founder, others } = yield* team("member")
      const [member] = others
      if (member === undefined) throw new Error("no member")
      yield* keyCallerOf(member, "read_write")
      yield* organizations.removeMember(founder, member.user.id, plain)
      const events = yield* logged
      assert.isTrue(events.some(({ data }) => data["api_key_id"] !== undefined))
      assert.isTrue(events.some(({ data }) => data["user_id"] === member.user.id && data["org_id"] === founder.org_id))
      yield* invitations.create(founder, { email: "member-0@example.com", role: "owner" })
      yield* acceptAll(yield* signedIn("member-0"))
      const accounts = yield* AccountStore
      assert.isTrue(Option.isSome(yield* accounts.findMembership(founder.org_id, member.user.id)))
      // Authentication.test.ts covers the key's secret after the return.
    }).pipe(Effect.provide(People))
  )
})

describe("Deleting an organization", () => {
  it.effect(
    "deleting an organization ends its keys and invitations, and its sessions fall back at their next refresh",
    () =>
      Effect.gen(function* () {
        const organizations = yield* Organizations
        const invitations = yield* Invitations
        const sessions = yield* Sessions
        const { id } = yield* team()
        const home = yield* signIn("founder")
        const there = yield* sessions.switchOrg(yield* sessionCallerOf(home.access_token), id)
        const acting = yield* sessionCallerOf(there.access_token)
        yield* invitations.create(acting, { email: "late@example.com", role: "member" })
        yield* organizations.remove(acting)
        assert.isNull((yield* callerOf(there.access_token)).organization.role)
        const back = yield* sessions.refresh(there.access_token)
        assert.strictEqual(back.organization.id, home.organization.id)
        assert.isTrue((yield* signIn("late")).organization.personal)
        assert.strictEqual(yield* tagOf(organizations.read(acting)), "NotFound")
      }).pipe(Effect.provide(People))
  )

  it.effect("deleting an organization is refused while it has projects, and always for a personal one", () =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const projects = yield* ProjectStore
      const { founder } = yield* team()
      yield* projects.insert(aProject({ org_id: founder.org_id }))
      assert.strictEqual(yield* tagOf(organizations.remove(founder)), "Conflict")
      const personal = yield* sessionCallerOf((yield* signIn("founder")).access_token)
      assert.strictEqual(yield* tagOf(organizations.remove(personal)), "Conflict")
    }).pipe(Effect.provide(People))
  )
})

describe("The organizations of a caller", () => {
  it.effect("a session lists all its user's organizations, a key only its own", () =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const { founder } = yield* team()
      assert.strictEqual((yield* organizations.list(founder, firstPage)).items.length, 2)
      const key = yield* keyCallerOf(founder, "read")
      assert.deepStrictEqual(
        (yield* organizations.list(key, firstPage)).items.map(({ id }) => id),
        [founder.org_id]
      )
    }).pipe(Effect.provide(People))
  )

  it.effect("renaming an organization trims its name", () =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const { founder } = yield* team()
      assert.strictEqual((yield* organizations.rename(founder, "  New  ")).name, "New")
      assert.strictEqual((yield* organizations.read(founder)).name, "New")
    }).pipe(Effect.provide(People))
  )
})

describe("OperatorAccounts", () => {
  it.effect("an account records enabling and disabling independently", () =>
    Effect.gen(function* () {
      const operator = yield* OperatorAccounts
      const { user } = yield* signIn("ada")
      const disabled = yield* operator.disable(user.id)
      assert.isNotNull(disabled.enabled_at)
      assert.isNotNull(disabled.disabled_at)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual((yield* operator.disable(user.id)).disabled_at, disabled.disabled_at)
      const back = yield* operator.enable(user.id)
      assert.deepStrictEqual(back.enabled_at, disabled.enabled_at)
      assert.isNull(back.disabled_at)
      assert.strictEqual(yield* tagOf(operator.enable(UserId.make("nobody"))), "NotFound")
      assert.strictEqual((yield* logged).filter(({ data }) => data["user_id"] === user.id).length, 2)
    }).pipe(Effect.provide(People))
  )
})
