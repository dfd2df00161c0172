/** The contract of `ComputeDoubtStore`. Run it against every adapter. */
import { Effect } from "effect"
import { EndpointId, RegionId } from "../../src/Ids.ts"
import { ComputeDoubtStore } from "../../src/records/projects/ComputeDoubtStore.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aBranchId, anEndpoint, aProjectId, aText, at } from "../records.ts"
import { atOnce, undone } from "../together.ts"

const aDoubt = (generation = 1) => ({ endpoint_id: EndpointId.make(aText("ep")), generation })

type Ports = ComputeDoubtStore | EndpointStore | Transaction

export const computeDoubtStoreContract = contract<Ports>("ComputeDoubtStore", (it) => {
  it("doubts are listed oldest first, up to the limit", () =>
    Effect.gen(function* () {
      const store = yield* ComputeDoubtStore
      const [young, old, between] = [aDoubt(), aDoubt(), aDoubt()]
      yield* store.record(young, at(-997))
      yield* store.record(old, at(-999))
      yield* store.record(between, at(-998))
      assert.deepStrictEqual(yield* store.oldest(null, 2), [old, between])
    }))

  it("the doubts of a region are those about its endpoints, and about endpoints that are gone", () =>
    Effect.gen(function* () {
      const [store, endpoints] = [yield* ComputeDoubtStore, yield* EndpointStore]
      const here = anEndpoint(aProjectId(), aBranchId())
      const there = anEndpoint(aProjectId(), aBranchId(), { region_id: RegionId.make("us-1") })
      const gone = aDoubt()
      for (const endpoint of [here, there]) yield* endpoints.put(endpoint)
      yield* store.record({ endpoint_id: here.id, generation: 1 }, at(-5001))
      yield* store.record({ endpoint_id: there.id, generation: 1 }, at(-5000))
      yield* store.record(gone, at(-4999))
      const of = (region: RegionId | null) =>
        Effect.map(store.oldest(region, 3), (found) => found.map(({ endpoint_id }) => endpoint_id))
      assert.deepStrictEqual((yield* of(here.region_id)).slice(0, 2), [here.id, gone.endpoint_id])
      assert.deepStrictEqual((yield* of(there.region_id)).slice(0, 2), [there.id, gone.endpoint_id])
      assert.deepStrictEqual(yield* of(null), [here.id, there.id, gone.endpoint_id])
      yield* Effect.forEach([here.id, there.id, gone.endpoint_id], (endpoint_id) =>
        store.remove({ endpoint_id, generation: 1 })
      )
    }))

  it("a doubt stands until it is removed, and a repeated one keeps its place", () =>
    Effect.gen(function* () {
      const store = yield* ComputeDoubtStore
      const [doubt, later] = [aDoubt(), aDoubt()]
      assert.isFalse(yield* store.stands(doubt))
      yield* store.record(doubt, at(-2000))
      yield* store.record(later, at(-1999))
      yield* store.record(doubt, at(-1998))
      assert.deepStrictEqual(yield* store.oldest(null, 1), [doubt])
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
      const listed = (yield* store.oldest(null, 1000)).filter((it) => it.endpoint_id === doubt.endpoint_id)
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
