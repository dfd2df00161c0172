import { assert, describe, it } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import { EndpointId, ProjectId } from "../../src/Ids.ts"
import { ComputeFailed } from "../../src/records/computes/ComputeDriver.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import { IpAllowlist } from "../../src/services/allowlist/IpAllowlist.ts"
import { initiatorOf, Operations } from "../../src/services/operations/Operations.ts"
import { Endpoints } from "../../src/services/projects/Endpoints.ts"
import { Projects } from "../../src/services/projects/Projects.ts"
import { ProxyRequests } from "../../src/services/proxy-requests/ProxyRequests.ts"
import { Core, logged, Machines, onEndpoint, settle, signedIn, tagOf, until } from "../memory/core.ts"

const inside = "203.0.113.9"
const outside = "198.51.100.1"

/** A project whose endpoint is suspended. */
const asleep = Effect.gen(function* () {
  const projects = yield* Projects
  const ada = yield* signedIn("ada")
  const made = yield* projects.create(ada, { name: "shop", region: null })
  yield* settle
  return { ada, ...made }
})
type Asleep = Effect.Success<typeof asleep>

const allow = ({ ada, project }: Asleep, cidr: string, ttl_seconds?: number) =>
  Effect.flatMap(IpAllowlist, (allowlist) =>
    allowlist.add(project, ttl_seconds === undefined ? { cidr } : { cidr, ttl_seconds }, ada.user.ref)
  )

const wake = ({ endpoint }: Asleep, address = inside) =>
  Effect.flatMap(ProxyRequests, (it) => it.wake(endpoint.id, address))
const now = ({ endpoint }: Asleep) =>
  Effect.flatMap(EndpointStore, (store) => Effect.map(store.findAnywhere(endpoint.id), Option.getOrThrow))
const operationsOf = ({ project }: Asleep) =>
  Effect.flatMap(OperationStore, (store) =>
    Effect.map(store.list(project.id, {}, { limit: 1000, after: null }), ({ items }) => items)
  )
const unfinished = ({ branch }: Asleep) => Effect.flatMap(OperationStore, (store) => store.unfinished(branch.id))

/** Wakes the endpoint and runs the operations that this schedules. */
const woken = (given: Asleep, address = inside) =>
  Effect.gen(function* () {
    const waiting = yield* Effect.forkChild(wake(given, address))
    yield* until(Effect.map(unfinished(given), (found) => found.length > 0))
    yield* settle
    yield* TestClock.adjust("1 second")
    return yield* Fiber.join(waiting)
  })

describe("Waking an endpoint", () => {
  it.effect("a wake starts the compute once and returns its address; at once when it runs", () =>
    Effect.gen(function* () {
      const given = yield* asleep
      const awake = yield* woken(given)
      assert.deepStrictEqual(awake, { address: "memory.invalid:1", generation: 1, tls: null, own_roles: false })
      assert.deepStrictEqual(yield* wake(given), awake)
      assert.strictEqual((yield* operationsOf(given)).length, 2)
    }).pipe(Effect.provide(Core))
  )

  it.effect(
    "a wake hints its process at the start when it is scheduled and when it has ended, both after the commit",
    () =>
      Effect.gen(function* () {
        const given = yield* asleep
        const store = yield* OperationStore
        const { onHint } = yield* Operations
        const hinted: Array<ReadonlyArray<string>> = []
        yield* onHint(({ id, status }) =>
          Effect.map(Effect.orDie(store.find(id)), (found) =>
            hinted.push([status, Option.getOrThrow(found).status])
          ).pipe(Effect.asVoid)
        )
        yield* woken(given)
        assert.deepStrictEqual(hinted, [
          ["scheduling", "scheduling"],
          ["finished", "finished"]
        ])
      }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("a wake by an unlisted address changes nothing", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const given = yield* asleep
      yield* allow(given, "203.0.113.0/24")
      const before = { endpoint: yield* now(given), events: yield* logged, calls: [...machines.calls] }
      for (const address of [outside, "::1", "not an address", "", "::ffff:198.51.100.1"])
        assert.strictEqual(yield* tagOf(wake(given, address)), "AddressNotListed", address)
      assert.strictEqual(yield* settle, 0)
      assert.deepStrictEqual({ endpoint: yield* now(given), events: yield* logged, calls: machines.calls }, before)
      assert.strictEqual((yield* operationsOf(given)).length, 1)
      yield* woken(given, `::ffff:${inside}`)
    }).pipe(Effect.provide(Core))
  )

  it.effect("a wake by an address whose rule was removed or expired since the proxy asked is refused", () =>
    Effect.gen(function* () {
      const allowlist = yield* IpAllowlist
      const given = yield* asleep
      yield* allow(given, "192.0.2.0/24")
      yield* allow(given, "203.0.113.0/24")
      yield* allow(given, "198.51.100.0/24", 60)
      yield* allowlist.remove(given.project, "203.0.113.0/24")
      assert.strictEqual(yield* tagOf(wake(given, inside)), "AddressNotListed")
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual(yield* tagOf(wake(given, outside)), "AddressNotListed")
      assert.strictEqual((yield* unfinished(given)).length, 0)
    }).pipe(Effect.provide(Core))
  )

  it.effect("a wake by an unlisted address is refused while the endpoint runs, too", () =>
    Effect.gen(function* () {
      const given = yield* asleep
      yield* woken(given)
      yield* allow(given, "203.0.113.0/24")
      assert.strictEqual(yield* tagOf(wake(given, outside)), "AddressNotListed")
    }).pipe(Effect.provide(Core))
  )

  it.effect("sixty wakes at once are one start", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const given = yield* asleep
      const all = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 60 }), () => wake(given), { concurrency: "unbounded" })
      )
      yield* until(Effect.map(unfinished(given), (found) => found.length > 0))
      yield* settle
      yield* TestClock.adjust("1 second")
      const awake = yield* Fiber.join(all)
      for (const it of awake)
        assert.deepStrictEqual(it, { address: "memory.invalid:1", generation: 1, tls: null, own_roles: false })
      assert.strictEqual(machines.starts.length, 1)
      assert.strictEqual((yield* operationsOf(given)).filter(({ action }) => action === "start_compute").length, 1)
    }).pipe(Effect.provide(Core))
  )

  it.effect("a wake during a suspend waits for it and starts the next generation", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const endpoints = yield* Endpoints
      const given = yield* asleep
      yield* woken(given)
      const gate = yield* Deferred.make<void>()
      machines.before = (call) => (call.startsWith("stop") ? Deferred.await(gate) : Effect.void)
      yield* endpoints.setDesiredState(given.project, given.endpoint.id, "idle", initiatorOf(given.ada))
      const suspending = yield* Effect.forkChild(settle)
      yield* until(Effect.sync(() => machines.calls.some((call) => call.startsWith("stop"))))
      const waiting = yield* Effect.forkChild(wake(given))
      yield* until(Effect.map(unfinished(given), (found) => found.length === 2))
      assert.strictEqual((yield* now(given)).pending_state, "active")
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(suspending)
      yield* settle
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(waiting), {
        address: "memory.invalid:2",
        generation: 2,
        tls: null,
        own_roles: false
      })
    }).pipe(Effect.provide(Core))
  )

  it.effect("a wake behind a suspend that is skipped returns the compute that runs", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const endpoints = yield* Endpoints
      const requests = yield* ProxyRequests
      const given = yield* asleep
      yield* woken(given)
      yield* endpoints.setDesiredState(given.project, given.endpoint.id, "idle", {
        type: "system",
        id: null,
        name: null
      })
      const waiting = yield* Effect.forkChild(wake(given))
      yield* until(Effect.map(unfinished(given), (found) => found.length === 2))
      yield* TestClock.adjust(1)
      yield* requests.noteActivity({
        proxy_id: "p-1",
        sequence: 1,
        endpoints: [{ endpoint_id: given.endpoint.id, generation: 1, connections: 1, busy: 0, idle_ms: 0 }]
      })
      yield* settle
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(waiting), {
        address: "memory.invalid:1",
        generation: 1,
        tls: null,
        own_roles: false
      })
      assert.strictEqual(machines.starts.length, 1)
    }).pipe(Effect.provide(Core))
  )

  it.effect("a wake fails after thirty seconds, and gives the reason when the start failed", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const given = yield* asleep
      const late = yield* Effect.forkChild(tagOf(wake(given)))
      yield* until(Effect.map(unfinished(given), (found) => found.length > 0))
      yield* TestClock.adjust(29_999)
      assert.isUndefined(late.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* Fiber.join(late), "NotStarted")

      machines.before = () => Effect.fail(new ComputeFailed({ reason: "no memory left", retryable: false }))
      yield* settle
      const failing = yield* Effect.forkChild(Effect.flip(wake(given)))
      yield* until(Effect.map(unfinished(given), (found) => found.length > 0))
      yield* settle
      yield* TestClock.adjust("1 second")
      assert.include((yield* Fiber.join(failing)).message, "no memory left")
    }).pipe(Effect.provide(Core))
  )

  it.effect("a wake of a disabled, unknown or deleted endpoint fails", () =>
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const given = yield* asleep
      yield* endpoints.change(given.ada, onEndpoint, given.project, given.endpoint, { disabled: true })
      assert.strictEqual(yield* tagOf(wake(given)), "Conflict")
      yield* endpoints.change(given.ada, onEndpoint, given.project, given.endpoint, { disabled: false })
      yield* endpoints.remove(given.ada, onEndpoint, given.project, given.endpoint)
      yield* settle
      assert.strictEqual(yield* tagOf(wake(given)), "NotFound")
      const requests = yield* ProxyRequests
      assert.strictEqual(yield* tagOf(requests.wake(EndpointId.make("ep-nope"), inside)), "NotFound")
      assert.strictEqual(yield* tagOf(requests.resolve(given.endpoint.id)), "NotFound")
    }).pipe(Effect.provide(Core))
  )

  it.effect("a wake is recorded with the proxy as initiator", () =>
    Effect.gen(function* () {
      const given = yield* asleep
      yield* woken(given)
      const [start] = yield* operationsOf(given)
      const all = yield* operationsOf(given)
      assert.strictEqual((all.find(({ action }) => action === "start_compute") ?? start)?.initiator.type, "proxy")
    }).pipe(Effect.provide(Core))
  )
})

describe("The allowlists that proxies ask for", () => {
  it.effect("allowlists are returned for existing projects, with a version that grows with every change", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const requests = yield* ProxyRequests
      const given = yield* asleep
      const other = yield* projects.create(given.ada, { name: "gone", region: null })
      yield* projects.remove(given.ada, other.project)
      const ids = [given.project.id, other.project.id, ProjectId.make("prj-nope")]
      const [before, ...rest] = yield* requests.allowlists(ids)
      assert.strictEqual(rest.length, 0)
      yield* allow(given, "203.0.113.0/24")
      const [after] = yield* requests.allowlists(ids)
      assert.isAbove(after?.version ?? 0, before?.version ?? 0)
    }).pipe(Effect.provide(Core))
  )

  it.effect("allowlists hold the rules in force only, with the time at which they were read", () =>
    Effect.gen(function* () {
      const requests = yield* ProxyRequests
      const given = yield* asleep
      yield* allow(given, "203.0.113.0/24", 60)
      yield* allow(given, "198.51.100.0/24")
      yield* TestClock.adjust("1 minute")
      const [list] = yield* requests.allowlists([given.project.id])
      assert.deepStrictEqual(list?.rules, [{ cidr: "198.51.100.0/24", expires_at: null }])
      assert.deepStrictEqual(list?.server_now, yield* DateTime.now)
    }).pipe(Effect.provide(Core))
  )
})
