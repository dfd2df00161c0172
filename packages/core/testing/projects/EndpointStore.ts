/** The contract of `EndpointStore`. Run it against every adapter. */
import { Effect, Option } from "effect"
import { RegionId } from "../../src/Ids.ts"
import { Endpoint } from "../../src/records/projects/Endpoint.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import type { Project } from "../../src/records/projects/Project.ts"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aBranchId, anEndpoint, aProject, aProjectId, at } from "../records.ts"
import { atOnce, inTransactionsAtOnce, undone } from "../together.ts"

const put = (rest: Partial<Endpoint> = {}) =>
  Effect.gen(function* () {
    const endpoint = anEndpoint(aProjectId(), aBranchId(), rest)
    assert.isTrue(yield* (yield* EndpointStore).put(endpoint))
    return endpoint
  })

/** All active endpoints, read in pages of two. Each page is after the one before. */
const allActive = Effect.gen(function* () {
  const store = yield* EndpointStore
  const found: Array<Endpoint> = []
  while (true) {
    const page = yield* store.active(null, found.at(-1)?.id ?? null, 2)
    assert.isAtMost(page.length, 2)
    found.push(...page)
    if (page.length < 2) break
  }
  assert.deepStrictEqual(
    found.map(({ id }) => id),
    [...new Set(found.map(({ id }) => id))].toSorted()
  )
  return found
})

export const endpointStoreContract = contract<EndpointStore | ProjectStore | Transaction>("EndpointStore", (it) => {
  it("an endpoint is stored as it was put", () =>
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const endpoint = yield* put({
        address: "10.0.0.1:5432",
        reach: { tls: { ca: "-----BEGIN CERTIFICATE-----\n…", server_name: "db.example" }, own_roles: true },
        suspend_timeout_seconds: -1,
        started_at: at(1)
      })
      assert.deepStrictEqual(yield* store.find(endpoint.project_id, endpoint.id), Option.some(endpoint))
      assert.deepStrictEqual(yield* store.findAnywhere(endpoint.id), Option.some(endpoint))
      assert.deepStrictEqual(yield* store.lock(endpoint.id), Option.some(endpoint))
      assert.isTrue(Option.isNone(yield* store.find(aProjectId(), endpoint.id)))
      const changed = new Endpoint({
        ...endpoint,
        disabled: true,
        address: null,
        reach: { tls: { ca: null }, own_roles: false },
        generation: 2
      })
      assert.isTrue(yield* store.put(changed))
      assert.deepStrictEqual(yield* store.findAnywhere(endpoint.id), Option.some(changed))
    }))

  it("an endpoint is found with the organization of its project, until one of them is deleted", () =>
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const projects = yield* ProjectStore
      const [first, second] = [aProject(), aProject()]
      const owned = Effect.fnUntraced(function* (project: Project) {
        yield* projects.insert(project)
        const endpoint = anEndpoint(project.id, aBranchId())
        yield* store.put(endpoint)
        return endpoint
      })
      const [kept, gone] = [yield* owned(first), yield* owned(second)]
      const found = Option.some({ endpoint: kept, org_id: first.org_id })
      assert.deepStrictEqual(yield* store.findOwned(kept.id), found)
      assert.deepStrictEqual(yield* inTransactionsAtOnce(2, () => store.lockOwned(kept.id)), [found, found])
      yield* projects.markDeleted(second.id, at(1))
      assert.isTrue(Option.isSome(yield* store.findAnywhere(gone.id)))
      assert.isTrue(Option.isNone(yield* store.findOwned(gone.id)))
      assert.isTrue(Option.isNone(yield* store.lockOwned(gone.id)))
      yield* store.markDeleted(kept.id, at(1))
      assert.isTrue(Option.isNone(yield* store.findOwned(kept.id)))
      assert.isTrue(Option.isNone(yield* store.lockOwned(anEndpoint(aProjectId(), aBranchId()).id)))
    }))

  it("a branch has one read-write endpoint, and any number of read-only ones", () =>
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const [project, branch] = [aProjectId(), aBranchId()]
      const made = yield* inTransactionsAtOnce(8, () => store.put(anEndpoint(project, branch, { type: "read_write" })))
      assert.strictEqual(made.filter((it) => it).length, 1)
      assert.isTrue(yield* store.put(anEndpoint(project, branch)))
      assert.isTrue(yield* store.put(anEndpoint(project, branch)))
      assert.lengthOf(yield* store.ofBranch(branch), 3)
    }))

  it("refusing a second read-write endpoint does not fail the transaction", () =>
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const first = yield* put({ type: "read_write" })
      const reader = anEndpoint(first.project_id, first.branch_id)
      const [made] = yield* inTransactionsAtOnce(1, () =>
        Effect.gen(function* () {
          const refused = yield* store.put(new Endpoint({ ...reader, type: "read_write" }))
          return [refused, yield* store.put(reader), yield* store.put(new Endpoint({ ...reader, type: "read_write" }))]
        })
      )
      assert.deepStrictEqual(made, [false, true, false])
      assert.isTrue(yield* store.put(new Endpoint({ ...first, disabled: true })))
    }))

  it("a deleted endpoint is not found again, and makes room for another", () =>
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
      assert.notDeepInclude(
        (yield* allActive).map((it) => it.id),
        endpoint.id
      )
    }))

  it("endpoints of a project or a branch are listed in pages, newest first", () =>
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
    }))

  it("all active endpoints are found in pages, each once", () =>
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const [active, idle] = [yield* put({ current_state: "active" }), yield* put()]
      yield* put({ current_state: "active" })
      yield* put({ current_state: "active" })
      const found = yield* allActive
      assert.deepInclude(found, active)
      assert.notDeepInclude(found, idle)
      assert.lengthOf(yield* store.active(null, null, found.length + 1), found.length)
    }))

  it("the active endpoints of a region are those of its projects", () =>
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const region_id = RegionId.make("us-1")
      const there = yield* put({ current_state: "active", region_id })
      yield* put({ current_state: "active" })
      assert.deepStrictEqual(yield* store.active(region_id, null, 10), [there])
      assert.deepStrictEqual(yield* store.active(region_id, there.id, 10), [])
    }))

  it("reports of proxies are recorded, but never move the last activity back", () =>
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const now = (endpoint: Endpoint) => Effect.map(store.findAnywhere(endpoint.id), Option.getOrThrow)
      const ahead = at(4_000_000_000)
      const [one, two] = [yield* put({ last_active_at: ahead }), yield* put({ generation: 7 })]
      const saw = ({ generation, id: endpoint_id }: Endpoint, connections: number, idle_ms = 0) => ({
        endpoint_id,
        generation,
        connections,
        busy: 0,
        idle_ms
      })
      const older = new Endpoint({ ...two, generation: 6 })
      const reports = [saw(one, 3), saw(two, 4), saw(older, 9), saw(two, 2, 3_600_000)]
      yield* store.noteActivity({ proxy_id: "a", sequence: 1, endpoints: reports })
      yield* store.noteActivity({ proxy_id: "a", sequence: 1, endpoints: [] })
      assert.deepInclude({ ...(yield* now(one)) }, { connections: 3, last_active_at: ahead })
      assert.strictEqual((yield* now(two)).connections, 2)
      const idle = Option.getOrThrow(yield* store.use(two.id))
      assert.isAtLeast(idle.idle_ms, 3_600_000)
      yield* store.noteActivity({ proxy_id: "b", sequence: 1, endpoints: [saw(two, 5, 1_800_000)] })
      assert.strictEqual((yield* now(two)).connections, 7)
      const later = Option.getOrThrow(yield* store.use(two.id))
      assert.isAtLeast(later.idle_ms, 1_800_000)
      assert.isBelow(later.idle_ms, 3_600_000)
      yield* atOnce(8, (n) => {
        const endpoints = [saw(one, 1), saw(two, 1)]
        const ordered = n % 2 === 0 ? endpoints : endpoints.toReversed()
        return store.noteActivity({ proxy_id: `p-${n}`, sequence: 1, endpoints: ordered })
      })
      assert.lengthOf(Option.getOrThrow(yield* store.use(two.id)).proxies, 10)
    }))

  it("the use of a compute is what each proxy reported last about its generation", () =>
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const endpoint = yield* put({ generation: 2 })
      const { id: endpoint_id } = endpoint
      const saw = (connections: number, busy: number, generation = 2) => [
        { endpoint_id, generation, connections, busy, idle_ms: 0 }
      ]
      const uses = Effect.map(store.use(endpoint_id), (use) =>
        Option.getOrThrow(use)
          .proxies.map(({ busy, connections, named }) => [named, connections, busy])
          .toSorted((a, b) => (String(a) < String(b) ? -1 : 1))
      )
      yield* store.noteActivity({ proxy_id: "a", sequence: 5, endpoints: saw(3, 1) })
      yield* store.noteActivity({ proxy_id: "a", sequence: 4, endpoints: saw(0, 0) })
      yield* store.noteActivity({ proxy_id: "a", sequence: 6, endpoints: saw(8, 8, 1) })
      yield* store.noteActivity({ proxy_id: null, sequence: 0, endpoints: saw(4, 4) })
      yield* store.noteActivity({ proxy_id: null, sequence: 0, endpoints: saw(2, 2) })
      assert.deepStrictEqual(yield* uses, [
        [false, 2, 2],
        [true, 3, 1]
      ])
      yield* store.put(new Endpoint({ ...endpoint, generation: 3 }))
      assert.deepStrictEqual(yield* uses, [])
      assert.isTrue(Option.isNone(yield* store.use(anEndpoint(aProjectId(), aBranchId()).id)))
    }))

  it("computes that run and are unused for their timeout are found, with since when reports are received", () =>
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const active = { current_state: "active", started_at: at(0) } as const
      const unused = yield* put({ ...active, reach: { tls: { ca: null }, own_roles: false } })
      const others = [
        yield* put({ ...active, last_active_at: at(4_000_000_000) }),
        yield* put({ ...active, pending_state: "idle" }),
        yield* put({ ...active, suspend_timeout_seconds: -1 }),
        yield* put({ ...active, reach: { tls: null, own_roles: true } }),
        yield* put()
      ]
      yield* store.noteReceiving
      yield* store.noteReceiving
      const found = (yield* store.unused).filter(({ endpoint_id }) =>
        [unused, ...others].some(({ id }) => id === endpoint_id)
      )
      assert.deepStrictEqual(
        found.map(({ endpoint_id, proxies }) => ({ endpoint_id, proxies })),
        [{ endpoint_id: unused.id, proxies: [] }]
      )
      assert.isAtLeast(found[0]?.receiving_ms ?? -1, 0)
      assert.isAtLeast(found[0]?.started_ms ?? -1, 300_000)
    }))

  it("transactions that lock an endpoint run one after another, and a rollback undoes their writes", () =>
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
    }))
})
