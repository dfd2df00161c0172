/** Sessions, accounts and scopes that end between a request's admission and its transaction: no secret is issued. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import type { ApiKeyId } from "../../src/Ids.ts"
import { AccessPolicy } from "../../src/records/accounts/AccessPolicy.ts"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { User } from "../../src/records/accounts/User.ts"
import { ApiKeyStore } from "../../src/records/keys/ApiKeyStore.ts"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import type { SessionCaller } from "../../src/rules/authorization/Principal.ts"
import { ApiKeys, type NewApiKey } from "../../src/services/keys/ApiKeys.ts"
import { Sessions } from "../../src/services/sign-in/Sessions.ts"
import { aBranch, aProject, firstPage } from "../../testing/records.ts"
import { People, signedIn, tagOf } from "../memory/core.ts"

const make = (creator: SessionCaller, scope: NewApiKey["scope"] = { type: "organization" }) =>
  Effect.flatMap(ApiKeys, (keys) =>
    keys.create(creator, { name: "ci", capability: "read_write", scope, expires_in_days: null })
  )

const rotate = Effect.fnUntraced(function* (creator: SessionCaller, id: ApiKeyId) {
  const stored = yield* (yield* ApiKeyStore).find(creator.org_id, id)
  return yield* (yield* ApiKeys).rotate(creator, Option.getOrThrow(stored), 0)
})

describe("A secret", () => {
  /** The errors of a creation and of a rotation by this person; asserts that the existing key is unchanged. */
  const refusedTo = (creator: SessionCaller, key: ApiKeyId) =>
    Effect.gen(function* () {
      const tags = [yield* tagOf(make(creator)), yield* tagOf(rotate(creator, key))]
      const [kept] = (yield* (yield* ApiKeys).list(creator, firstPage)).items
      assert.strictEqual(kept?.id, key)
      return tags
    })

  it.effect("a secret is not issued to a session that ended after the request was admitted", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions
      const ada = yield* signedIn("ada")
      const { api_key } = yield* make(ada)
      yield* sessions.end(ada.user.id, ada.session_id)
      assert.deepStrictEqual(yield* refusedTo(ada, api_key.id), ["SignInRequired", "SignInRequired"])
    }).pipe(Effect.provide(People))
  )

  it.effect("a secret is not issued after the window of the sign-in", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      const { api_key } = yield* make(ada)
      yield* TestClock.adjust("12 hours")
      assert.deepStrictEqual(yield* refusedTo(ada, api_key.id), ["SignInRequired", "SignInRequired"])
    }).pipe(Effect.provide(People))
  )

  it.effect(
    "a secret is not issued to an account disabled after the request was admitted, even if the session is valid",
    () =>
      Effect.gen(function* () {
        const accounts = yield* AccountStore
        const ada = yield* signedIn("ada")
        const { api_key } = yield* make(ada)
        yield* accounts.putUser(new User({ ...ada.user, disabled_at: ada.user.created_at }))
        assert.deepStrictEqual(yield* refusedTo(ada, api_key.id), ["InvalidCredential", "InvalidCredential"])
      }).pipe(Effect.provide(People))
  )

  it.effect("a new key is not issued to a pending account", () =>
    Effect.gen(function* () {
      const closed = { open_signup: false, sign_in_allowlist: [], invitations_bypass_gate: false }
      const refused = yield* Effect.flatMap(signedIn("ada"), (ada) => Effect.flip(make(ada))).pipe(
        Effect.provideService(AccessPolicy, closed)
      )
      assert.strictEqual(refused._tag === "Refused" ? refused.code : refused._tag, "alpha_pending")
    }).pipe(Effect.provide(People))
  )

  it.effect("a new key is not issued for a project or branch deleted after its scope was resolved", () =>
    Effect.gen(function* () {
      const projects = yield* ProjectStore
      const branches = yield* BranchStore
      const ada = yield* signedIn("ada")
      const project = aProject({ org_id: ada.org_id })
      const branch = aBranch(project.id)
      yield* projects.insert(project)
      yield* branches.put(branch)
      yield* branches.markDeleted(branch.id, branch.created_at)
      yield* projects.markDeleted(project.id, project.created_at)
      const { id: project_id } = project
      for (const scope of [
        { type: "project", project_id },
        { type: "branch", project_id, branch_id: branch.id }
      ] as const)
        assert.strictEqual(yield* tagOf(make(ada, scope)), "InvalidMember")
    }).pipe(Effect.provide(People))
  )
})
