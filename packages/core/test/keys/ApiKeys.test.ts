import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import type { ApiKeyId } from "../../src/Ids.ts"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { ApiKeyStore } from "../../src/records/keys/ApiKeyStore.ts"
import { hintOf, isKeySecret, makeKeySecret } from "../../src/records/keys/KeySecret.ts"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import type { SessionCaller } from "../../src/rules/authorization/Principal.ts"
import { ApiKeys, KeyLimit, type NewApiKey } from "../../src/services/keys/ApiKeys.ts"
import { Invitations } from "../../src/services/organizations/Invitations.ts"
import { aBranch, aProject, firstPage } from "../../testing/records.ts"
import { callerOf, keyCallerOf, logged, People, signedIn, tagOf } from "../memory/core.ts"

const wanted: NewApiKey = {
  name: " ci ",
  capability: "read_write",
  scope: { type: "organization" },
  expires_in_days: null
}
const make = (creator: SessionCaller, rest: Partial<NewApiKey> = {}) =>
  Effect.flatMap(ApiKeys, (keys) => keys.create(creator, { ...wanted, ...rest }))

const rotate = Effect.fnUntraced(function* (caller: SessionCaller, id: ApiKeyId, grace: number) {
  const keys = yield* ApiKeys
  const store = yield* ApiKeyStore
  return yield* keys.rotate(caller, Option.getOrThrow(yield* store.find(caller.org_id, id)), grace)
})

describe("A new key", () => {
  it.effect("a new key is returned with its secret, which no listing or stored record contains", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const ada = yield* signedIn("ada")
      const { api_key, secret } = yield* make(ada, { expires_in_days: 90 })
      assert.isTrue(isKeySecret(Redacted.value(secret)))
      assert.deepInclude({ ...api_key }, { name: "ci", hint: hintOf(secret), last_used_at: null, revoked_at: null })
      assert.strictEqual(api_key.expires_at?.epochMilliseconds, 90 * 86_400_000)
      assert.strictEqual(api_key.created_by.id, ada.user.id)
      const { items: listed } = yield* keys.list(ada, firstPage)
      assert.deepStrictEqual(listed, [api_key])
      assert.notInclude(JSON.stringify(listed), "nsk_")
      const store = yield* ApiKeyStore
      const stored = yield* store.find(ada.org_id, api_key.id)
      assert.notInclude(JSON.stringify(stored), Redacted.value(secret))
    }).pipe(Effect.provide(People))
  )

  it.effect("keys are created up to the limit, also concurrently; revoked and expired keys do not count", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const ada = yield* signedIn("ada")
      const revoked = yield* make(ada)
      yield* make(ada, { expires_in_days: 1 })
      yield* keys.revoke(ada, revoked.api_key.id)
      yield* TestClock.adjust("1 day")
      const again = yield* signedIn("ada")
      const attempts = yield* Effect.forEach(Array.from({ length: 60 }), () => Effect.exit(make(again)), {
        concurrency: "unbounded"
      })
      assert.strictEqual(attempts.filter(({ _tag }) => _tag === "Success").length, 40)
      assert.strictEqual(yield* tagOf(make(again)), "Conflict")
      const bob = yield* signedIn("bob")
      yield* make(bob)
    }).pipe(Effect.provideService(KeyLimit, 40), Effect.provide(People))
  )

  it.effect("the default limit is 1,000 keys", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* KeyLimit, 1000)
    })
  )

  it.effect("a key is not created when the membership ended after the request was admitted", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const store = yield* ApiKeyStore
      const ada = yield* signedIn("ada")
      yield* accounts.removeMembership(ada.org_id, ada.user.id)
      const refused = yield* Effect.flip(make(ada))
      assert.strictEqual(refused._tag === "Refused" ? refused.code : refused._tag, "not_a_member")
      assert.strictEqual(yield* store.countLive(ada.org_id, ada.user.id, ada.user.created_at), 0)
    }).pipe(Effect.provide(People))
  )
})

describe("The scope of a key", () => {
  it.effect("a scope is resolved inside the organization: foreign, unknown and malformed ids fail alike", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const projects = yield* ProjectStore
      const branches = yield* BranchStore
      const [ada, eve] = [yield* signedIn("ada"), yield* signedIn("eve")]
      const [own, foreign] = [aProject({ org_id: ada.org_id }), aProject({ org_id: eve.org_id })]
      const [branch, away] = [aBranch(own.id), aBranch(foreign.id)]
      for (const project of [own, foreign]) yield* projects.insert(project)
      for (const it of [branch, away]) yield* branches.put(it)

      assert.deepStrictEqual(yield* keys.resolveScope(ada.org_id, { type: "branch", branch_id: branch.id }), {
        type: "branch",
        project_id: own.id,
        branch_id: branch.id
      })
      const refused = (scope: Parameters<typeof keys.resolveScope>[1]) =>
        Effect.map(Effect.flip(keys.resolveScope(ada.org_id, scope)), (error) => ({ ...error }))
      const byProject = yield* Effect.forEach([foreign.id, "prj-nope", "", "..."], (project_id) =>
        refused({ type: "project", project_id })
      )
      const byBranch = yield* Effect.forEach([away.id, "br-nope", ""], (branch_id) =>
        refused({ type: "branch", branch_id })
      )
      for (const answers of [byProject, byBranch]) for (const it of answers) assert.deepStrictEqual(it, answers[0])
      yield* refused({ type: "branch", project_id: foreign.id, branch_id: branch.id })
      yield* projects.markDeleted(own.id, own.created_at)
      yield* refused({ type: "project", project_id: own.id })
    }).pipe(Effect.provide(People))
  )
})

describe("A rotation", () => {
  it.effect("a rotation without grace ends the old secret and its streams at once and keeps the key's id", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      const { api_key, secret } = yield* make(ada)
      const fresh = yield* rotate(ada, api_key.id, 0)
      assert.strictEqual(fresh.api_key.id, api_key.id)
      assert.strictEqual(fresh.api_key.hint, hintOf(fresh.secret))
      assert.strictEqual(yield* tagOf(callerOf(secret)), "InvalidCredential")
      yield* callerOf(fresh.secret)
      assert.isTrue((yield* logged).some(({ data }) => data["api_key_id"] === api_key.id))
    }).pipe(Effect.provide(People))
  )

  it.effect("a rotation of an expired key is refused, because its new secret could not be used", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      const { api_key } = yield* make(ada, { expires_in_days: 1 })
      yield* TestClock.adjust("1 day")
      assert.strictEqual(yield* tagOf(rotate(yield* signedIn("ada"), api_key.id, 0)), "Conflict")
    }).pipe(Effect.provide(People))
  )

  it.effect("a rotation with grace keeps the old secret valid for exactly that time, whatever later rotations do", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      const { api_key, secret: first } = yield* make(ada)
      const { secret: second } = yield* rotate(ada, api_key.id, 60)
      const { secret: third } = yield* rotate(ada, api_key.id, 3600)
      yield* TestClock.adjust(59_999)
      for (const secret of [first, second, third]) yield* callerOf(secret)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* tagOf(callerOf(first)), "InvalidCredential")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* tagOf(callerOf(second)), "InvalidCredential")
      yield* callerOf(third)
    }).pipe(Effect.provide(People))
  )

  it.effect("only its creator can rotate a key, and a revoked key cannot be rotated", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const invitations = yield* Invitations
      const ada = yield* signedIn("ada")
      yield* invitations.create(ada, { email: "bob@example.com", role: "owner" })
      const bob = yield* signedIn("bob")
      const { api_key } = yield* make(ada)
      assert.strictEqual(yield* tagOf(rotate(bob, api_key.id, 0)), "NotFound")
      yield* keys.revoke(ada, api_key.id)
      assert.strictEqual(yield* tagOf(rotate(ada, api_key.id, 0)), "NotFound")
    }).pipe(Effect.provide(People))
  )
})

describe("A report of a leaked secret", () => {
  it.effect("a leak report revokes the key of the secret, and reveals nothing about any other text", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const ada = yield* signedIn("ada")
      const { secret } = yield* make(ada)
      for (const text of [yield* makeKeySecret, Redacted.make("not a key"), Redacted.make("")]) yield* keys.report(text)
      yield* callerOf(secret)
      yield* keys.report(secret)
      yield* keys.report(secret)
      assert.strictEqual(yield* tagOf(callerOf(secret)), "InvalidCredential")
    }).pipe(Effect.provide(People))
  )

  it.effect("a leak report of a secret that a rotation ended leaves the new secret valid", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const ada = yield* signedIn("ada")
      const { api_key, secret: old } = yield* make(ada)
      const { secret } = yield* rotate(ada, api_key.id, 60)
      yield* TestClock.adjust("60 seconds")
      yield* keys.report(old)
      yield* callerOf(secret)
    }).pipe(Effect.provide(People))
  )

  it.effect("a leak report of an old secret within its grace revokes the key, because that secret still works", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const ada = yield* signedIn("ada")
      const { api_key, secret: old } = yield* make(ada)
      const { secret } = yield* rotate(ada, api_key.id, 60)
      yield* keys.report(old)
      assert.strictEqual(yield* tagOf(callerOf(secret)), "InvalidCredential")
    }).pipe(Effect.provide(People))
  )
})

describe("The list of keys", () => {
  it.effect("the list shows all keys to key managers, own keys to other members, and only itself to a narrow key", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const invitations = yield* Invitations
      const projects = yield* ProjectStore
      const ada = yield* signedIn("ada")
      yield* invitations.create(ada, { email: "bob@example.com", role: "member" })
      const bob = yield* signedIn("bob")
      const project = aProject({ org_id: ada.org_id })
      yield* projects.insert(project)
      const { api_key: hers } = yield* make(ada)
      const { api_key: his } = yield* make(bob)
      const narrow = yield* keyCallerOf(bob, "read", { type: "project", project_id: project.id })
      const idsOf = (caller: Parameters<typeof keys.list>[0]) =>
        Effect.map(keys.list(caller, firstPage), ({ items }) => items.map(({ id }) => id))
      assert.sameMembers(yield* idsOf(ada), [hers.id, his.id, narrow.api_key_id])
      assert.sameMembers(yield* idsOf(bob), [his.id, narrow.api_key_id])
      assert.sameMembers(yield* idsOf(narrow), [narrow.api_key_id])
    }).pipe(Effect.provide(People))
  )

  it.effect("the list keeps expired keys for thirty days and omits revoked keys", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const ada = yield* signedIn("ada")
      const { api_key } = yield* make(ada)
      yield* make(ada, { expires_in_days: 1 })
      yield* keys.revoke(ada, api_key.id)
      yield* TestClock.adjust(31 * 86_400_000 - 1)
      assert.strictEqual((yield* keys.list(ada, firstPage)).items.length, 1)
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* keys.list(ada, firstPage)).items.length, 0)
    }).pipe(Effect.provide(People))
  )
})

describe("Revoking a key", () => {
  it.effect("a key is revoked once, inside its organization, and no other key changes", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const [ada, eve] = [yield* signedIn("ada"), yield* signedIn("eve")]
      const [one, other] = [yield* make(ada), yield* make(ada)]
      assert.strictEqual(yield* tagOf(keys.revoke(eve, one.api_key.id)), "NotFound")
      yield* keys.revoke(ada, one.api_key.id)
      assert.strictEqual(yield* tagOf(keys.revoke(ada, one.api_key.id)), "NotFound")
      yield* callerOf(other.secret)
      const events = (yield* logged).filter(({ data }) => data["api_key_id"] === one.api_key.id)
      assert.strictEqual(events.length, 1)
    }).pipe(Effect.provide(People))
  )
})
