/** How many credentials a branch may have (docs/design/api.md, Quotas). */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { Membership } from "../../src/records/accounts/Membership.ts"
import { BranchRoleStore } from "../../src/records/projects/BranchRoleStore.ts"
import { defaultQuotas, QuotaPolicy } from "../../src/records/quotas/Quota.ts"
import { permissionsOf } from "../../src/rules/authorization/Permission.ts"
import type { AnyCaller, SessionCaller } from "../../src/rules/authorization/Principal.ts"
import { Core, keyCallerOf, signedIn, tagOf } from "../memory/core.ts"
import { mint, type Setting, setting } from "./team.ts"

const onMain = ({ main, project }: Setting) => ({ child: main, project })

/** A person who joins the team of the setting with the role `viewer`. */
const aViewer = Effect.fnUntraced(function* (at: Setting, name: string) {
  const person: SessionCaller = yield* signedIn(name)
  const { org_id } = at
  const joined_at = yield* DateTime.now
  const membership = new Membership({ org_id, user_id: person.user.id, role: "viewer", joined_at })
  yield* (yield* AccountStore).putMembership(membership)
  const organization = { ...person.organization, id: org_id, personal: false, role: "viewer" }
  return { ...person, org_id, organization, permissions: permissionsOf("viewer") } satisfies SessionCaller
})

const times = (count: number) => Array.from({ length: count })

describe("The number of credentials of a branch", () => {
  it.effect("a branch has a quota of credentials, which an ended one leaves once a compute has confirmed it", () =>
    Effect.gen(function* () {
      const at = yield* setting
      const roles = yield* BranchRoleStore
      for (const _ of times(4)) yield* mint(at, at.ada)
      const last = yield* mint(at, at.key)
      const refused = yield* Effect.flip(mint(at, at.bob, "read_only"))
      assert.deepInclude(refused, { _tag: "QuotaExceeded", quota: "credentials_per_branch", held: 5, allowed: 5 })
      yield* mint(onMain(at), at.bob)
      const now = yield* DateTime.now
      yield* roles.revoke({ branch_id: at.child.id, role: last.role }, now)
      assert.strictEqual(yield* tagOf(mint(at, at.bob)), "QuotaExceeded")
      yield* roles.confirm(at.child.id, { applied: [], removed: [last.role] }, now)
      yield* mint(at, at.bob)
    }).pipe(Effect.provideService(QuotaPolicy, { ...defaultQuotas, credentials_per_branch: 5 }), Effect.provide(Core))
  )

  it.effect("agent keys and viewers have four credentials each of a branch that they may not write to", () =>
    Effect.gen(function* () {
      const at = yield* setting
      const second = yield* keyCallerOf(at.bob, "agent")
      const viewer = yield* aViewer(at, "vera")
      for (const caller of [at.agent, second, viewer] as ReadonlyArray<AnyCaller>) {
        for (const _ of times(4)) yield* mint(onMain(at), caller, "read_only")
        const refused = yield* Effect.flip(mint(onMain(at), caller, "read_only"))
        assert.deepInclude(refused, { _tag: "Conflict" })
        assert.include(String(refused), "You have 4 credentials")
      }
      for (const _ of times(5)) yield* mint(at, at.agent, "read_only")
    }).pipe(Effect.provide(Core))
  )

  it.effect("where a branch has twenty readers, only callers who may write to it mint more", () =>
    Effect.gen(function* () {
      const at = yield* setting
      for (const _ of times(20)) yield* mint(onMain(at), at.ada, "read_only")
      assert.include(String(yield* Effect.flip(mint(onMain(at), at.agent, "read_only"))), "20 read-only credentials")
      yield* mint(onMain(at), at.bob, "read_only")
    }).pipe(Effect.provide(Core))
  )
})
