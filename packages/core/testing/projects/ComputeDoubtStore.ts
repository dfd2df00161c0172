/** The contract of `ComputeDoubtStore`. Run it against every adapter. */
import { Effect } from "effect"
import { EndpointId } from "../../src/Ids.ts"
import { ComputeDoubtStore } from "../../src/records/projects/ComputeDoubtStore.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aText, at } from "../records.ts"
import { atOnce, undone } from "../together.ts"

const aDoubt = (generation = 1) => ({ endpoint_id: EndpointId.make(aText("ep")), generation })

export const computeDoubtStoreContract = contract<ComputeDoubtStore | Transaction>("ComputeDoubtStore", (it) => {
  it("doubts are listed oldest first, up to the limit", () =>
    Effect.gen(function* () {
      const store = yield* ComputeDoubtStore
      const [young, old, between] = [aDoubt(), aDoubt(), aDoubt()]
      yield* store.record(young, at(-997))
      yield* store.record(old, at(-999))
      yield* store.record(between, at(-998))
      assert.deepStrictEqual(yield* store.oldest(2), [old, between])
    }))

  it("a doubt stands until it is removed, and a repeated one keeps its place", () =>
    Effect.gen(function* () {
      const store = yield* ComputeDoubtStore
      const [doubt, later] = [aDoubt(), aDoubt()]
      assert.isFalse(yield* store.stands(doubt))
      yield* store.record(doubt, at(-2000))
      yield* store.record(later, at(-1999))
      yield* store.record(doubt, at(-1998))
      assert.deepStrictEqual(yield* store.oldest(1), [doubt])
      assert.isTrue(yield* store.stands(doubt))
      yield* store.remove(doubt)
      yield* store.remove(doubt)
      assert.isFalse(yield* store.stands(doubt))
      assert.isTrue(yield* store.stands(later))
    }))

  it("the doubt of the highest generation stands, of several about an endpoint", () =>
    Effect.gen(function* () {
      const store = yield* ComputeDoubtStore
      const first = aDoubt()
      const second = { ...first, generation: 2 }
      yield* store.record(second, at(0))
      yield* store.record(first, at(1))
      assert.deepStrictEqual([yield* store.stands(first), yield* store.stands(second)], [false, true])
      yield* store.remove(first)
      assert.isTrue(yield* store.stands(second))
      yield* store.record({ ...first, generation: 3 }, at(2))
      assert.isFalse(yield* store.stands(second))
    }))

  it("simultaneous doubts about an endpoint are one", () =>
    Effect.gen(function* () {
      const store = yield* ComputeDoubtStore
      const doubt = aDoubt()
      yield* atOnce(8, () => store.record(doubt, at(-3000)))
      const listed = (yield* store.oldest(1000)).filter((it) => it.endpoint_id === doubt.endpoint_id)
      assert.deepStrictEqual(listed, [doubt])
    }))

  it("a doubt of an undone transaction does not stand", () =>
    Effect.gen(function* () {
      const store = yield* ComputeDoubtStore
      const doubt = aDoubt()
      yield* undone(store.record(doubt, at(0)))
      assert.isFalse(yield* store.stands(doubt))
    }))
})
