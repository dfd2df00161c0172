/** The contract of `BranchRoleStore`. Run it against every adapter. */
import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import type { BranchRole } from "../../src/projects/BranchRole.ts"
import { BranchRoleStore } from "../../src/projects/BranchRoleStore.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { aBranchId, aBranchRole, at } from "../records.ts"
import { atOnce, undone } from "../together.ts"

const names = (roles: ReadonlyArray<BranchRole>) => roles.map((it) => it.role)

export const branchRoleStoreContract = <E>(name: string, adapter: Layer.Layer<BranchRoleStore | Transaction, E>) =>
  layer(adapter, { excludeTestServices: true })(`BranchRoleStore: ${name}`, (it) => {
    it.effect("valid roles of a branch are listed oldest first", () =>
      Effect.gen(function* () {
        const store = yield* BranchRoleStore
        const branch = aBranchId()
        const young = aBranchRole(branch, { created_at: at(2), expires_at: at(11) })
        const old = aBranchRole(branch, { created_at: at(1), access: "read_only" })
        const gone = [
          aBranchRole(branch, { expires_at: at(10) }),
          aBranchRole(branch, { revoked_at: at(3) }),
          aBranchRole(aBranchId())
        ]
        for (const role of [young, ...gone, old]) yield* store.insert(role)
        assert.deepStrictEqual(yield* store.valid(branch, at(10)), [old, young])
      })
    )

    it.effect("two branches may have roles of the same name", () =>
      Effect.gen(function* () {
        const store = yield* BranchRoleStore
        const [one, two] = [aBranchRole(aBranchId(), { role: "app" }), aBranchRole(aBranchId(), { role: "app" })]
        yield* store.insert(one)
        yield* store.insert(two)
        assert.deepStrictEqual(yield* store.valid(one.branch_id, at(0)), [one])
        assert.deepStrictEqual(yield* store.valid(two.branch_id, at(0)), [two])
      })
    )

    it.effect("roles that agents minted are revoked once, and no others", () =>
      Effect.gen(function* () {
        const store = yield* BranchRoleStore
        const branch = aBranchId()
        const reader = aBranchRole(branch, { minted_by_agent: true, access: "read_only" })
        const person = aBranchRole(branch)
        const elsewhere = aBranchRole(aBranchId(), { minted_by_agent: true })
        for (const role of [
          aBranchRole(branch, { minted_by_agent: true }),
          aBranchRole(branch, { minted_by_agent: true }),
          reader,
          person,
          elsewhere
        ])
          yield* store.insert(role)
        yield* undone(store.revokeAgentRoles(branch, at(1)))
        assert.lengthOf(yield* store.valid(branch, at(2)), 4)
        const ended = yield* atOnce(3, () => store.revokeAgentRoles(branch, at(1)))
        assert.deepStrictEqual(ended.toSorted(), [0, 0, 3])
        assert.deepStrictEqual(names(yield* store.valid(branch, at(2))).toSorted(), names([person]))
        assert.deepStrictEqual(names(yield* store.valid(elsewhere.branch_id, at(2))), [elsewhere.role])
      })
    )
  })
