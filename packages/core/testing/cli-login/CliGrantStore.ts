/** The contract of `CliGrantStore`. Run it against every adapter. */
import { Effect, Option } from "effect"
import { CliGrant, maxWrongVerifiers } from "../../src/records/cli-login/CliGrant.ts"
import { CliGrantStore } from "../../src/records/cli-login/CliGrantStore.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aBranchId, aGrant, aProjectId, aText, at } from "../records.ts"
import { atOnce, inTransactionsAtOnce, undone } from "../together.ts"

export const cliGrantStoreContract = contract<CliGrantStore | Transaction>("CliGrantStore", (it) => {
  it("a grant is stored as it was inserted", () =>
    Effect.gen(function* () {
      const store = yield* CliGrantStore
      const scope = { type: "branch", project_id: aProjectId(), branch_id: aBranchId() } as const
      const grant = aGrant({ scope, expires_in_days: null, capability: "agent" })
      assert.isTrue(yield* store.insert(grant))
      assert.deepStrictEqual(yield* store.find(grant.code_digest), Option.some(grant))
      assert.isTrue(Option.isNone(yield* store.find(aText("code"))))
    }))

  it("exactly one of several simultaneous authorizations with the same state is inserted", () =>
    Effect.gen(function* () {
      const store = yield* CliGrantStore
      const state_digest = aText("state")
      const made = yield* inTransactionsAtOnce(8, () => store.insert(aGrant({ state_digest })))
      assert.strictEqual(made.filter((it) => it).length, 1)
    }))

  it("exactly one of several simultaneous exchanges consumes a code", () =>
    Effect.gen(function* () {
      const store = yield* CliGrantStore
      const grant = aGrant()
      yield* store.insert(grant)
      const consumed = yield* atOnce(8, () => store.consume(grant.code_digest, at(1)))
      const used = new CliGrant({ ...grant, consumed_at: at(1) })
      assert.deepStrictEqual(consumed.flatMap(Option.toArray), [used])
      assert.deepStrictEqual(yield* store.find(grant.code_digest), Option.some(used))
      assert.isTrue(Option.isNone(yield* store.consume(grant.code_digest, at(2))))
    }))

  it("a code is refused from the instant of its expiry on", () =>
    Effect.gen(function* () {
      const store = yield* CliGrantStore
      const grant = aGrant({ expires_at: at(60) })
      yield* store.insert(grant)
      assert.isTrue(Option.isNone(yield* store.consume(grant.code_digest, at(60))))
      assert.isTrue(Option.isSome(yield* store.consume(grant.code_digest, at(59))))
    }))

  it("a code is void after too many wrong verifiers, even simultaneous ones", () =>
    Effect.gen(function* () {
      const store = yield* CliGrantStore
      const [burnt, close] = [aGrant(), aGrant()]
      yield* store.insert(burnt)
      yield* store.insert(close)
      yield* atOnce(maxWrongVerifiers, () => store.noteWrongVerifier(burnt.code_digest))
      yield* atOnce(maxWrongVerifiers - 1, () => store.noteWrongVerifier(close.code_digest))
      assert.isTrue(Option.isNone(yield* store.consume(burnt.code_digest, at(1))))
      assert.isTrue(Option.isSome(yield* store.consume(close.code_digest, at(1))))
    }))

  it("a failed exchange does not consume the code", () =>
    Effect.gen(function* () {
      const store = yield* CliGrantStore
      const grant = aGrant()
      yield* store.insert(grant)
      yield* undone(store.consume(grant.code_digest, at(1)))
      assert.isTrue(Option.isSome(yield* store.consume(grant.code_digest, at(2))))
    }))

  it("expired grants are purged, and their states may be used again", () =>
    Effect.gen(function* () {
      const store = yield* CliGrantStore
      const [old, young] = [aGrant({ expires_at: at(-100) }), aGrant({ expires_at: at(-99) })]
      yield* store.insert(old)
      yield* store.insert(young)
      yield* store.purge(at(-99))
      assert.isTrue(Option.isNone(yield* store.find(old.code_digest)))
      assert.isTrue(Option.isSome(yield* store.find(young.code_digest)))
      assert.isTrue(yield* store.insert(aGrant({ state_digest: old.state_digest })))
    }))
})
