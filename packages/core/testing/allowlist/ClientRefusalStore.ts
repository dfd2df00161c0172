/** The contract of `ClientRefusalStore`. Run it against every adapter. */
import { type DateTime, Effect } from "effect"
import { ClientRefusal, type RefusalNoted, refusalLimits } from "../../src/records/allowlist/ClientRefusal.ts"
import { ClientRefusalStore } from "../../src/records/allowlist/ClientRefusalStore.ts"
import { BranchRoleStore } from "../../src/records/projects/BranchRoleStore.ts"
import type { Endpoint } from "../../src/records/projects/Endpoint.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aBranchId, aBranchRole, anEndpoint, aProjectId, aStoredKey, aText, at, aUser, firstPage } from "../records.ts"
import { atOnce, undone } from "../together.ts"

const anEndpointOf = Effect.fnUntraced(function* (project = aProjectId()) {
  const endpoint = anEndpoint(project, aBranchId())
  yield* (yield* EndpointStore).put(endpoint)
  return endpoint
})

const positionOf = (instant: DateTime.Utc, tail: string) =>
  `${String(instant.epochMilliseconds).padStart(15, "0")}-${tail}`

/** An observation of one refusal, so many seconds after the start. `n` is unique among equal instants. */
const noted = ({ id }: Endpoint, address: string, seconds: number, rest: Partial<RefusalNoted> = {}, n = "0") => {
  const last_at = rest.last_at ?? at(seconds)
  return {
    endpoint_id: id,
    address,
    role: null,
    reason: "address_not_listed",
    count: 1,
    first_at: last_at,
    last_at,
    position: positionOf(last_at, n),
    ...rest
  } satisfies RefusalNoted
}

const aProxy = () => aText("proxy").replace(" ", "-")

/** Notes the refusals as a report of a proxy of its own. */
const note = (...refusals: ReadonlyArray<RefusalNoted>) =>
  Effect.flatMap(ClientRefusalStore, (store) => store.note({ proxy_id: aProxy(), sequence: 1, refusals }, at(0)))

const listed = (
  { project_id }: Pick<Endpoint, "project_id">,
  owner: Parameters<ClientRefusalStore["Service"]["list"]>[1] = null
) =>
  Effect.flatMap(ClientRefusalStore, (store) =>
    Effect.map(store.list(project_id, owner, firstPage), (page) => page.items)
  )

type Ports = BranchRoleStore | ClientRefusalStore | EndpointStore | Transaction

export const clientRefusalStoreContract = contract<Ports>("ClientRefusalStore", (it) => {
  it("a refusal is kept as it was reported, with the branch of its endpoint", () =>
    Effect.gen(function* () {
      const endpoint = yield* anEndpointOf()
      const refusal = noted(endpoint, "2001:db8::7", 5, { count: 3, first_at: at(1), reason: "rules_unknown" })
      yield* note(refusal)
      const { position: _, ...kept } = refusal
      assert.deepStrictEqual(yield* listed(endpoint), [new ClientRefusal({ ...kept, branch_id: endpoint.branch_id })])
    }))

  it("refusals of one address at one endpoint are one record: a sum, the first and the last instant, the last reason", () =>
    Effect.gen(function* () {
      const endpoint = yield* anEndpointOf()
      yield* note(noted(endpoint, "192.0.2.7", 10, { count: 2, first_at: at(8), reason: "rules_unknown" }))
      yield* note(noted(endpoint, "192.0.2.7", 20, { count: 5, first_at: at(15) }))
      yield* note(noted(endpoint, "192.0.2.7", 4, { count: 1, first_at: at(3), reason: "rules_unknown" }))
      const [record, ...more] = yield* listed(endpoint)
      assert.deepStrictEqual(more, [])
      assert.deepInclude(record, { count: 8, first_at: at(3), last_at: at(20), reason: "address_not_listed" })
    }))

  it("refusals are listed newest first in pages, those of other projects are not, and a repeated one moves to the front", () =>
    Effect.gen(function* () {
      const store = yield* ClientRefusalStore
      const endpoint = yield* anEndpointOf()
      const [second, foreign] = [yield* anEndpointOf(endpoint.project_id), yield* anEndpointOf()]
      yield* note(noted(endpoint, "192.0.2.1", 1), noted(second, "192.0.2.1", 2), noted(foreign, "192.0.2.1", 3))
      yield* note(noted(endpoint, "192.0.2.2", 4))
      const addresses = Effect.map(listed(endpoint), (items) => items.map((it) => `${it.endpoint_id} ${it.address}`))
      const [a, b, c] = [`${endpoint.id} 192.0.2.2`, `${second.id} 192.0.2.1`, `${endpoint.id} 192.0.2.1`]
      assert.deepStrictEqual(yield* addresses, [a, b, c])
      yield* note(noted(endpoint, "192.0.2.1", 9))
      assert.deepStrictEqual(yield* addresses, [c, a, b])

      const first = yield* store.list(endpoint.project_id, null, { limit: 2, after: null })
      assert.lengthOf(first.items, 2)
      assert.isNotNull(first.next_cursor)
      const rest = yield* store.list(endpoint.project_id, null, { limit: 2, after: positionOf(at(4), "0") })
      assert.deepStrictEqual(
        rest.items.map((it) => `${it.endpoint_id} ${it.address}`),
        [b]
      )
      assert.isNull(rest.next_cursor)
    }))

  it("a report that is repeated, or that arrives after a later one of its proxy, changes nothing", () =>
    Effect.gen(function* () {
      const store = yield* ClientRefusalStore
      const endpoint = yield* anEndpointOf()
      const proxy_id = aProxy()
      const report = (sequence: number) =>
        store.note({ proxy_id, sequence, refusals: [noted(endpoint, "192.0.2.1", sequence)] }, at(sequence))
      yield* atOnce(6, () => report(2))
      yield* report(1)
      const counts = Effect.map(listed(endpoint), (items) => items.map(({ count }) => count))
      assert.deepStrictEqual(yield* counts, [1])
      yield* undone(report(3))
      yield* report(3)
      assert.deepStrictEqual(yield* counts, [2])
      yield* note(noted(endpoint, "192.0.2.1", 4))
      assert.deepStrictEqual(yield* counts, [3])
    }))

  it("refusals at an endpoint that does not exist or is deleted are left out, and the others of the report are kept", () =>
    Effect.gen(function* () {
      const endpoint = yield* anEndpointOf()
      const deleted = yield* anEndpointOf(endpoint.project_id)
      yield* (yield* EndpointStore).markDeleted(deleted.id, at(0))
      const unknown = anEndpoint(endpoint.project_id, endpoint.branch_id)
      yield* note(noted(unknown, "192.0.2.1", 1), noted(deleted, "192.0.2.1", 1), noted(endpoint, "192.0.2.1", 1))
      assert.deepStrictEqual(
        (yield* listed(endpoint)).map(({ endpoint_id }) => endpoint_id),
        [endpoint.id]
      )
    }))

  it("a project keeps the records of its last refusals, and other projects' records are not touched", () =>
    Effect.gen(function* () {
      const { kept } = refusalLimits
      const [endpoint, quiet] = [yield* anEndpointOf(), yield* anEndpointOf()]
      yield* note(noted(quiet, "192.0.2.1", -1000))
      for (let part = 0; part < 3; part++)
        yield* note(...Array.from({ length: kept }, (_, n) => noted(endpoint, `10.0.${part}.${n}`, part * kept + n)))
      const addresses = (yield* listed(endpoint)).map(({ address }) => address)
      assert.deepStrictEqual(
        addresses,
        Array.from({ length: kept }, (_, n) => `10.0.2.${kept - 1 - n}`)
      )
      assert.lengthOf(yield* listed(quiet), 1)
    }))

  it("proxies that report at the same time leave no more records than one after another", () =>
    Effect.gen(function* () {
      const { kept } = refusalLimits
      const endpoint = yield* anEndpointOf()
      const second = yield* anEndpointOf(endpoint.project_id)
      yield* atOnce(6, (part) => {
        const refusals = Array.from({ length: 60 }, (_, n) =>
          noted(n % 2 === 0 ? endpoint : second, `10.0.${(n * 7) % 60}.${part < 3 ? part : 0}`, n, {}, `${part}x${n}`)
        )
        return note(...(part % 2 === 0 ? refusals : refusals.toReversed()))
      })
      assert.lengthOf(yield* listed(endpoint), kept)
    }))

  it("a role is shown if the branch has it and the owner minted it", () =>
    Effect.gen(function* () {
      const roles = yield* BranchRoleStore
      const endpoint = yield* anEndpointOf()
      const [ada, grace] = [aUser(), aUser()]
      const api_key_id = aStoredKey().key.id
      const role = aBranchRole(endpoint.branch_id, { minted_by: ada.ref, api_key_id })
      const elsewhere = aBranchRole(aBranchId(), { minted_by: ada.ref })
      for (const it of [role, elsewhere]) yield* roles.insert(it)
      yield* note(
        noted(endpoint, "192.0.2.3", 3, { role: role.role }),
        noted(endpoint, "192.0.2.2", 2, { role: elsewhere.role }),
        noted(endpoint, "192.0.2.1", 1, { role: "role_000000000000none" })
      )
      const shown = (owner: Parameters<typeof listed>[1]) =>
        Effect.map(listed(endpoint, owner), (items) => items.map((it) => it.role))
      assert.deepStrictEqual(yield* shown(null), [role.role, null, null])
      assert.deepStrictEqual(yield* shown({ user_id: ada.id }), [role.role, null, null])
      assert.deepStrictEqual(yield* shown({ user_id: grace.id }), [null, null, null])
      assert.deepStrictEqual(yield* shown({ api_key_id }), [role.role, null, null])
      assert.deepStrictEqual(yield* shown({ api_key_id: aStoredKey().key.id }), [null, null, null])
    }))

  it("purging removes the records whose last refusal is before the instant, and a later report begins again", () =>
    Effect.gen(function* () {
      const store = yield* ClientRefusalStore
      const endpoint = yield* anEndpointOf()
      const proxy_id = aProxy()
      const report = (sequence: number, refusal: RefusalNoted, now: DateTime.Utc) =>
        store.note({ proxy_id, sequence, refusals: [refusal] }, now)
      yield* report(1, noted(endpoint, "192.0.2.1", -500, { count: 4 }), at(-500))
      yield* report(2, noted(endpoint, "192.0.2.2", -400), at(-400))
      yield* store.purge(at(-400))
      const kept = Effect.map(listed(endpoint), (items) => items.map((it) => `${it.address} ${it.count}`))
      assert.deepStrictEqual(yield* kept, ["192.0.2.2 1"])
      yield* report(2, noted(endpoint, "192.0.2.2", -300), at(-300))
      assert.deepStrictEqual(yield* kept, ["192.0.2.2 1"])
      yield* store.purge(at(-399))
      yield* report(2, noted(endpoint, "192.0.2.1", -300), at(-300))
      assert.deepStrictEqual(yield* kept, ["192.0.2.1 1"])
    }))

  it("refusals of an undone transaction are not recorded", () =>
    Effect.gen(function* () {
      const endpoint = yield* anEndpointOf()
      yield* undone(note(noted(endpoint, "192.0.2.1", 1)))
      assert.deepStrictEqual(yield* listed(endpoint), [])
    }))
})
