/** Holds docs/design/identity.md I12. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { AccessPolicy, type AccessSettings } from "../../src/records/accounts/AccessPolicy.ts"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { Sessions } from "../../src/services/sign-in/Sessions.ts"
import { firstPage } from "../../testing/records.ts"
import { device, idTokenOf, People, signIn } from "../memory/core.ts"

const open: AccessSettings = { open_signup: true, sign_in_allowlist: [], invitations_bypass_gate: false }
const access = (rest: Partial<AccessSettings>) => Effect.provideService(AccessPolicy, { ...open, ...rest })

describe("The first sign-in", () => {
  it.effect("the first sign-in creates the user and a personal organization that they own", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const { account_state, organization, user } = yield* signIn({ subject: "ada", name: "Ada Lovelace" })
      assert.strictEqual(account_state, "active")
      assert.deepInclude({ ...organization }, { personal: true, role: "owner", name: "Ada Lovelace's organization" })
      const all = (yield* accounts.organizationsOf(user.id, firstPage)).items
      assert.deepStrictEqual(
        all.map(({ id, role }) => ({ id, role })),
        [{ id: organization.id, role: "owner" }]
      )
    }).pipe(Effect.provide(People))
  )

  it.effect("simultaneous sign-ins of one person create one account", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const answers = yield* Effect.forEach(Array.from({ length: 40 }), () => signIn("ada"), {
        concurrency: "unbounded"
      })
      assert.strictEqual(new Set(answers.map(({ user }) => user.id)).size, 1)
      assert.strictEqual(new Set(answers.map(({ organization }) => organization.id)).size, 1)
      assert.strictEqual((yield* accounts.users(firstPage)).items.length, 1)
    }).pipe(Effect.provide(People))
  )

  it.effect("a pending account has a personal organization too", () =>
    Effect.gen(function* () {
      const { account_state, organization } = yield* signIn("ada").pipe(access({ open_signup: false }))
      assert.strictEqual(account_state, "pending")
      assert.isTrue(organization.personal)
    }).pipe(Effect.provide(People))
  )

  it.effect("a personal organization has a default name, and a long name is cut between characters", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* signIn({ subject: "a", email: null })).organization.name, "Personal")
      assert.strictEqual((yield* signIn({ subject: "b", email: null, name: "\u0007 " })).organization.name, "Personal")
      const long = yield* signIn({ subject: "c", name: "🦆".repeat(200) })
      assert.strictEqual(long.organization.name, `${"🦆".repeat(100)}'s organization`)
    }).pipe(Effect.provide(People))
  )

  it.effect("a user is identified by issuer and subject, never by address", () =>
    Effect.gen(function* () {
      const a = yield* signIn({ subject: "a", email: "same@example.com" })
      const b = yield* signIn({ subject: "b", email: "same@example.com" })
      assert.notStrictEqual(a.user.id, b.user.id)
      const renamed = yield* signIn({ subject: "a", email: "new@example.com", name: "New" })
      assert.deepStrictEqual({ ...renamed.user }, { id: a.user.id, email: "new@example.com", name: "New" })
    }).pipe(Effect.provide(People))
  )
})

describe("The sign-in allowlist", () => {
  const listed = access({ sign_in_allowlist: ["@example.com"] })

  it.effect("a sign-in that the allowlist refuses writes no row and spends no id token", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const sessions = yield* Sessions
      for (const person of [
        { subject: "eve", email: "eve@elsewhere.example" },
        { subject: "unverified", verified: false },
        { subject: "nameless", email: null }
      ]) {
        const token = yield* idTokenOf(person)
        assert.strictEqual((yield* Effect.flip(listed(sessions.exchange(token, device))))._tag, "EmailNotAllowed")
        assert.strictEqual((yield* accounts.users(firstPage)).items.length, 0)
        assert.isTrue(Option.isNone(yield* accounts.lockUserByIdentity("https://issuer.test", person.subject)))
      }
      yield* listed(signIn("ada"))
    }).pipe(Effect.provide(People))
  )

  it.effect("the allowlist refuses a user who signed in before it was set", () =>
    Effect.gen(function* () {
      yield* signIn({ subject: "eve", email: "eve@elsewhere.example" })
      const again = listed(signIn({ subject: "eve", email: "eve@elsewhere.example" }))
      assert.strictEqual((yield* Effect.flip(again))._tag, "EmailNotAllowed")
    }).pipe(Effect.provide(People))
  )
})
