/** The ends of database credentials (docs/design/authorization.md Z38, Z42, Z43). */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { ApiKeyStore } from "../../src/records/keys/ApiKeyStore.ts"
import { BranchRoleStore } from "../../src/records/projects/BranchRoleStore.ts"
import { permissionsOf } from "../../src/rules/authorization/Permission.ts"
import { changes } from "../../src/rules/authorization/Policy.ts"
import { ApiKeys } from "../../src/services/keys/ApiKeys.ts"
import { OperatorAccounts } from "../../src/services/organizations/OperatorAccounts.ts"
import { Organizations } from "../../src/services/organizations/Organizations.ts"
import { Branches } from "../../src/services/projects/Branches.ts"
import { Projects } from "../../src/services/projects/Projects.ts"
import { Core, tagOf } from "../memory/core.ts"
import { mint, minted, type Setting, setting } from "./team.ts"

const onBranch = changes("write", "change_projects", "branch")
const plain = { confirmed: true, hand_over_credentials: false }

const valid = Effect.fnUntraced(function* ({ child }: Setting) {
  const found = yield* (yield* BranchRoleStore).valid(child.id, yield* DateTime.now)
  return found.map(({ role }) => role).toSorted()
})

describe("The end of a credential", () => {
  it.effect("a role records the person and the key that minted it", () =>
    Effect.gen(function* () {
      const at = yield* setting
      const roles = yield* minted(at)
      const store = yield* BranchRoleStore
      const found = Option.getOrThrow(yield* store.find(at.child.id, roles.key))
      assert.deepStrictEqual(
        [found.minted_by, found.api_key_id, found.api_key_name, found.org_id],
        [at.bob.user.ref, at.key.api_key_id, at.key.api_key_name, at.org_id]
      )
      assert.isNull(Option.getOrThrow(yield* store.find(at.child.id, roles.writer)).api_key_id)
    }).pipe(Effect.provide(Core))
  )

  it.effect("revoking a key ends the roles that it minted, and rotating it ends none", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const at = yield* setting
      const roles = yield* minted(at)
      const stored = Option.getOrThrow(yield* (yield* ApiKeyStore).find(at.org_id, at.key.api_key_id))
      yield* keys.rotate(at.bob, stored, 0)
      assert.sameMembers(yield* valid(at), Object.values(roles))
      yield* keys.revoke(at.bob, at.key.api_key_id)
      assert.sameMembers(yield* valid(at), [roles.ada, roles.reader, roles.writer, roles.agent])
    }).pipe(Effect.provide(Core))
  )

  it.effect("removing a member or leaving ends the member's roles in that organization", () =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      for (const by of ["ada", "bob"] as const) {
        const at = yield* setting
        const roles = yield* minted(at)
        yield* organizations.removeMember(at[by], at.bob.user.id, plain)
        assert.deepStrictEqual(yield* valid(at), [roles.ada])
      }
    }).pipe(Effect.provide(Core))
  )

  it.effect("an admin, who may not remove an owner, does not see what a removal of the owner ends", () =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const at = yield* setting
      const organization = { ...at.bob.organization, role: "admin" }
      const admin = { ...at.bob, organization, permissions: permissionsOf("admin") }
      assert.strictEqual(yield* tagOf(organizations.holdings(admin, at.ada.user.id)), "Refused")
    }).pipe(Effect.provide(Core))
  )

  it.effect("a removal shows beforehand what it ends, and can hand the credentials over", () =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const at = yield* setting
      const roles = yield* minted(at)
      const { api_keys, api_keys_count, credentials, credentials_count } = yield* organizations.holdings(
        at.ada,
        at.bob.user.id
      )
      assert.sameMembers(
        api_keys.map(({ id }) => id),
        [at.key.api_key_id, at.agent.api_key_id]
      )
      assert.sameMembers(
        credentials.map(({ role }) => role),
        [roles.reader, roles.writer, roles.key, roles.agent]
      )
      assert.deepStrictEqual([api_keys_count, credentials_count], [2, 4])

      const taking = { confirmed: true, hand_over_credentials: true }
      assert.strictEqual(yield* tagOf(organizations.removeMember(at.bob, at.bob.user.id, taking)), "Conflict")
      yield* organizations.removeMember(at.ada, at.bob.user.id, taking)
      assert.sameMembers(yield* valid(at), Object.values(roles))
      const held = yield* organizations.holdings(at.ada, at.ada.user.id)
      assert.strictEqual(held.credentials_count, 5)
      assert.isTrue(held.credentials.every(({ api_key_id }) => api_key_id === null))
      const agents = (yield* (yield* BranchRoleStore).valid(at.child.id, yield* DateTime.now)).filter(
        ({ minted_by_agent }) => minted_by_agent
      )
      assert.deepStrictEqual(
        agents.map(({ role }) => role),
        [roles.agent]
      )
    }).pipe(Effect.provide(Core))
  )

  it.effect("a member who becomes a viewer keeps read-only credentials alone, also those of keys", () =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const at = yield* setting
      const roles = yield* minted(at)
      yield* organizations.changeRole(at.ada, at.bob.user.id, "viewer", false)
      assert.sameMembers(yield* valid(at), [roles.ada, roles.reader])
      assert.strictEqual(yield* tagOf(mint(at, at.bob)), "Refused", "with the rights from before")
    }).pipe(Effect.provide(Core))
  )

  it.effect("disabling a person ends their credentials for good", () =>
    Effect.gen(function* () {
      const { disable, enable } = yield* OperatorAccounts
      const at = yield* setting
      const roles = yield* minted(at)
      yield* disable(at.bob.user.id)
      assert.deepStrictEqual(yield* valid(at), [roles.ada])
      yield* enable(at.bob.user.id)
      assert.deepStrictEqual(yield* valid(at), [roles.ada])
    }).pipe(Effect.provide(Core))
  )

  it.effect("deleting a branch or its project ends every role of it", () =>
    Effect.gen(function* () {
      const branches = yield* Branches
      const projects = yield* Projects
      for (const what of ["branch", "project"] as const) {
        const at = yield* setting
        yield* minted(at)
        if (what === "branch") yield* branches.remove(at.ada, onBranch, at.child)
        else yield* projects.remove(at.ada, at.project)
        assert.deepStrictEqual(yield* valid(at), [])
      }
    }).pipe(Effect.provide(Core))
  )

  it.effect("a caller whose key, membership or account ended after the call was admitted mints nothing", () =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const at = yield* setting
      yield* (yield* ApiKeys).revoke(at.bob, at.key.api_key_id)
      assert.strictEqual(yield* tagOf(mint(at, at.key)), "InvalidCredential")
      yield* (yield* OperatorAccounts).disable(at.bob.user.id)
      assert.strictEqual(yield* tagOf(mint(at, at.bob)), "InvalidCredential")
      yield* organizations.removeMember(at.ada, at.bob.user.id, plain)
      assert.strictEqual(yield* tagOf(mint(at, at.bob)), "Refused")
      assert.deepStrictEqual(yield* valid(at), [])
    }).pipe(Effect.provide(Core))
  )
})
