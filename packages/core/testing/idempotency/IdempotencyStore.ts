/** The contract of `IdempotencyStore`. Run it against every adapter. */
import { Effect } from "effect"
import { IdempotencyStore, type IdempotentCall } from "../../src/records/idempotency/IdempotencyStore.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aText, at } from "../records.ts"
import { atOnce, undone } from "../together.ts"

const day = 86_400

const aCall = (rest: Partial<IdempotentCall> = {}): IdempotentCall => ({
  owner: "user org",
  key: aText("key"),
  fingerprint: "POST /v1/projects 0abc",
  ...rest
})

/** Begins a call with a lease of a minute and an expiry after a day. */
const begin = (call: IdempotentCall, seconds = 0) =>
  Effect.flatMap(IdempotencyStore, (store) =>
    store.begin(call, { now: at(seconds), lease_until: at(seconds + 60), expires_at: at(seconds + day) })
  )

/** Begins a call that is not running; returns its attempt. */
const fresh = (call: IdempotentCall, seconds = 0) =>
  Effect.gen(function* () {
    const begun = yield* begin(call, seconds)
    assert.strictEqual(begun._tag, "fresh")
    return begun._tag === "fresh" ? begun.attempt : 0
  })

const answer = { status: 201, headers: { location: "/v1/projects/prj-1" }, body: '{"project":{"name":"é \\u0000"}}' }

export const idempotencyStoreContract = contract<IdempotencyStore | Transaction>("IdempotencyStore", (it) => {
  it("the first answer of a call is replayed byte for byte", () =>
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const call = aCall()
      const attempt = yield* fresh(call)
      assert.deepStrictEqual(yield* begin(call, 1), { _tag: "in_progress", lease_until: at(60) })
      assert.isTrue(yield* store.complete(call, attempt, answer))
      assert.deepStrictEqual(yield* begin(call, day - 1), { _tag: "replay", answer })
    }))

  it("exactly one of several simultaneous equal calls runs", () =>
    Effect.gen(function* () {
      const call = aCall()
      const begun = yield* atOnce(8, () => begin(call))
      assert.strictEqual(begun.filter((it) => it._tag === "fresh").length, 1)
      assert.strictEqual(begun.filter((it) => it._tag === "in_progress").length, 7)
    }))

  it("another call with the same key is refused, running or answered, but not for another owner", () =>
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const call = aCall()
      const other = { ...call, fingerprint: "POST /v1/projects 1def" }
      const attempt = yield* fresh(call)
      assert.deepStrictEqual(yield* begin(other), { _tag: "conflict" })
      assert.deepStrictEqual(yield* begin(other, 60), { _tag: "conflict" })
      yield* store.complete(call, attempt, answer)
      assert.deepStrictEqual(yield* begin(other), { _tag: "conflict" })
      yield* fresh({ ...other, owner: "another owner" })
    }))

  it("a record expires after a day, and any call may use the key then", () =>
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const call = aCall()
      yield* store.complete(call, yield* fresh(call), answer)
      yield* fresh({ ...call, fingerprint: "DELETE /v1/projects/prj-1" }, day)
    }))

  it("a call runs again after the lease of a dead attempt, whose late answer is ignored", () =>
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const call = aCall()
      const dead = yield* fresh(call)
      assert.deepStrictEqual(yield* begin(call, 59), { _tag: "in_progress", lease_until: at(60) })
      const again = yield* fresh(call, 60)
      assert.isFalse(yield* store.complete(call, dead, { ...answer, status: 500 }))
      yield* store.abandon(call, dead)
      assert.deepStrictEqual(yield* begin(call, 61), { _tag: "in_progress", lease_until: at(120) })
      assert.isTrue(yield* store.complete(call, again, answer))
      assert.isFalse(yield* store.complete(call, again, { ...answer, status: 204 }))
      assert.deepStrictEqual(yield* begin(call, 62), { _tag: "replay", answer })
    }))

  it("an abandoned call frees its key, also for another call", () =>
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const call = aCall()
      const attempt = yield* fresh(call)
      yield* store.abandon(call, attempt)
      const later = yield* fresh({ ...call, fingerprint: "PATCH" })
      assert.notStrictEqual(later, attempt)
      assert.isFalse(yield* store.complete(call, attempt, answer))
      yield* store.complete(call, later, answer)
      yield* store.abandon(call, later)
      assert.strictEqual((yield* begin({ ...call, fingerprint: "PATCH" }))._tag, "replay")
    }))

  it("the answer of an undone transaction is not stored", () =>
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const call = aCall()
      const attempt = yield* fresh(call)
      yield* undone(store.complete(call, attempt, answer))
      assert.deepStrictEqual(yield* begin(call, 1), { _tag: "in_progress", lease_until: at(60) })
    }))

  it("purging removes expired records and nothing else", () =>
    Effect.gen(function* () {
      const store = yield* IdempotencyStore
      const [old, young] = [aCall(), aCall()]
      const [gone, stays] = [yield* fresh(old, -10), yield* fresh(young, -9)]
      yield* store.purge(at(day - 10))
      assert.isFalse(yield* store.complete(old, gone, answer))
      assert.isTrue(yield* store.complete(young, stays, answer))
    }))
})
