/** The contract of `EndpointStore`. Run it against every adapter. */
import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Option } from "effect"
import { Endpoint } from "../../src/projects/Endpoint.ts"
import { EndpointStore } from "../../src/projects/EndpointStore.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { aBranchId, anEndpoint, aProjectId, at } from "../records.ts"
import { atOnce, inTransactionsAtOnce, undone } from "../together.ts"

const put = (rest: Partial<Endpoint> = {}) =>
  Effect.gen(function* () {
    const endpoint = anEndpoint(aProjectId(), aBranchId(), rest)
    assert.isTrue(yield* (yield* EndpointStore).put(endpoint))
    return endpoint
  })

export const endpointStoreContract = <E>(name: string, adapter: Layer.Layer<EndpointStore | Transaction, E>) =>
  layer(adapter, { excludeTestServices: true })(`EndpointStore: ${name}`, (it) => {
    it.effect("an endpoint is stored as it was put", () =>
      Effect.gen(function* () {
        const store = yield* EndpointStore
        const endpoint = yield* put({ address: "10.0.0.1:5432", suspend_timeout_seconds: -1, started_at: at(1) })
        assert.deepStrictEqual(yield* store.find(endpoint.project_id, endpoint.id), Option.some(endpoint))
        assert.deepStrictEqual(yield* store.findAnywhere(endpoint.id), Option.some(endpoint))
        assert.deepStrictEqual(yield* store.lock(endpoint.id), Option.some(endpoint))
        assert.isTrue(Option.isNone(yield* store.find(aProjectId(), endpoint.id)))
        const changed = new Endpoint({ ...endpoint, disabled: true, address: null, generation: 2 })
        assert.isTrue(yield* store.put(changed))
        assert.deepStrictEqual(yield* store.findAnywhere(endpoint.id), Option.some(changed))
      })
    )

    it.effect("a branch has one read-write endpoint, and any number of read-only ones", () =>
      Effect.gen(function* () {
        const store = yield* EndpointStore
        const [project, branch] = [aProjectId(), aBranchId()]
        const made = yield* inTransactionsAtOnce(8, () =>
          store.put(anEndpoint(project, branch, { type: "read_write" }))
        )
        assert.strictEqual(made.filter((it) => it).length, 1)
        assert.isTrue(yield* store.put(anEndpoint(project, branch)))
        assert.isTrue(yield* store.put(anEndpoint(project, branch)))
        assert.lengthOf(yield* store.ofBranch(branch), 3)
      })
    )

    it.effect("refusing a second read-write endpoint does not fail the transaction", () =>
      Effect.gen(function* () {
        const store = yield* EndpointStore
        const first = yield* put({ type: "read_write" })
        const reader = anEndpoint(first.project_id, first.branch_id)
        const [made] = yield* inTransactionsAtOnce(1, () =>
          Effect.gen(function* () {
            const refused = yield* store.put(new Endpoint({ ...reader, type: "read_write" }))
            return [refused, yield* store.put(reader)]
          })
        )
        assert.deepStrictEqual(made, [false, true])
        assert.isTrue(yield* store.put(new Endpoint({ ...first, disabled: true })))
      })
    )

    it.effect("a deleted endpoint is not found again, and makes room for another", () =>
      Effect.gen(function* () {
        const store = yield* EndpointStore
        const endpoint = yield* put({ type: "read_write", current_state: "active" })
        yield* store.markDeleted(endpoint.id, at(1))
        assert.isTrue(yield* store.put(anEndpoint(endpoint.project_id, endpoint.branch_id, { type: "read_write" })))
        assert.isTrue(yield* store.put(endpoint))
        assert.isTrue(Option.isNone(yield* store.find(endpoint.project_id, endpoint.id)))
        assert.isTrue(Option.isNone(yield* store.findAnywhere(endpoint.id)))
        assert.isTrue(Option.isNone(yield* store.lock(endpoint.id)))
        assert.lengthOf(yield* store.ofBranch(endpoint.branch_id), 1)
        assert.notInclude(
          (yield* store.active).map((it) => it.id),
          endpoint.id
        )
      })
    )

    it.effect("endpoints of a project or a branch are listed in pages, newest first", () =>
      Effect.gen(function* () {
        const store = yield* EndpointStore
        const [project, branch] = [aProjectId(), aBranchId()]
        const [a, b, c] = [anEndpoint(project, branch), anEndpoint(project, aBranchId()), anEndpoint(project, branch)]
        for (const endpoint of [c, a, b]) yield* store.put(endpoint)
        const first = yield* store.list(project, null, { limit: 2, after: null })
        assert.deepStrictEqual(first.items, [c, b])
        assert.isNotNull(first.next_cursor)
        assert.deepStrictEqual((yield* store.list(project, null, { limit: 2, after: b.id })).items, [a])
        assert.deepStrictEqual((yield* store.list(project, branch, { limit: 2, after: null })).items, [c, a])
      })
    )

    it.effect("all active endpoints are found", () =>
      Effect.gen(function* () {
        const store = yield* EndpointStore
        const [active, idle] = [yield* put({ current_state: "active" }), yield* put()]
        const found = yield* store.active
        assert.deepInclude(found, active)
        assert.notDeepInclude(found, idle)
      })
    )

    it.effect("reports of proxies are recorded, but never move the last activity back", () =>
      Effect.gen(function* () {
        const store = yield* EndpointStore
        const [one, two] = [yield* put({ last_active_at: at(10) }), yield* put({ generation: 7 })]
        const saw = (endpoint: Endpoint, connections: number, seconds: number, generation = endpoint.generation) => ({
          endpoint_id: endpoint.id,
          generation,
          connections,
          last_active_at: at(seconds)
        })
        yield* store.noteActivity([saw(one, 3, 5), saw(two, 4, 6), saw(two, 9, 9, 6), saw(two, 2, 3)])
        yield* store.noteActivity([])
        const now = (endpoint: Endpoint) =>
          Effect.map(
            store.findAnywhere(endpoint.id),
            Option.map((it) => [it.connections, it.last_active_at])
          )
        assert.deepStrictEqual(yield* now(one), Option.some([3, at(10)]))
        assert.deepStrictEqual(yield* now(two), Option.some([2, at(6)]))
        yield* atOnce(8, (n) => {
          const reports = [saw(one, 1, 20 + n), saw(two, 1, 20 + n)]
          return store.noteActivity(n % 2 === 0 ? reports : reports.toReversed())
        })
        assert.deepStrictEqual(yield* now(one), Option.some([1, at(27)]))
        assert.deepStrictEqual(yield* now(two), Option.some([1, at(27)]))
      })
    )

    it.effect("transactions that lock an endpoint run one after another, and a rollback undoes their writes", () =>
      Effect.gen(function* () {
        const store = yield* EndpointStore
        const endpoint = yield* put()
        yield* inTransactionsAtOnce(8, () =>
          Effect.gen(function* () {
            const found = yield* Effect.fromOption(yield* store.lock(endpoint.id))
            yield* store.put(new Endpoint({ ...found, generation: found.generation + 1 }))
          })
        )
        yield* undone(store.markDeleted(endpoint.id, at(1)))
        const found = yield* store.findAnywhere(endpoint.id)
        assert.deepStrictEqual(
          Option.map(found, (it) => it.generation),
          Option.some(9)
        )
      })
    )
  })
