import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { ComputeDriver } from "../../src/records/computes/ComputeDriver.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { Endpoint } from "../../src/records/projects/Endpoint.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import { Reconciler } from "../../src/runner/Reconciler.ts"
import { bySystem } from "../../src/services/operations/Operations.ts"
import { Endpoints } from "../../src/services/projects/Endpoints.ts"
import { Core, Machines, settle } from "../memory/core.ts"
import { pass, report } from "../memory/use.ts"
import { endpointNow, runningProject } from "./story.ts"

const suspendable = (seconds: number) =>
  Effect.gen(function* () {
    const made = yield* runningProject
    const store = yield* EndpointStore
    yield* store.put(new Endpoint({ ...(yield* endpointNow(made.endpoint.id)), suspend_timeout_seconds: seconds }))
    return made
  })

const suspended = Effect.flatMap(Reconciler, (reconciler) => reconciler.suspendIdle)

describe("Suspending idle computes", () => {
  it.effect("an idle compute is suspended once, after its timeout counted from the last activity", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* runningProject
      yield* pass(299)
      assert.strictEqual(yield* suspended, 0)
      yield* report(endpoint.id, { connections: 0 })
      yield* pass(299)
      assert.strictEqual(yield* suspended, 0)
      yield* pass(1)
      assert.strictEqual(yield* suspended, 1)
      assert.strictEqual(yield* suspended, 0)
      yield* settle
      assert.strictEqual((yield* endpointNow(endpoint.id)).current_state, "idle")
      assert.strictEqual((yield* (yield* ComputeDriver).running).length, 0)
    }).pipe(Effect.provide(Core))
  )

  it.effect(
    "a server with roles of an operator's own is never suspended for being idle, also where it was wanted before",
    () =>
      Effect.gen(function* () {
        const { endpoint } = yield* suspendable(1)
        const store = yield* EndpointStore
        yield* report(endpoint.id, { connections: 0 })
        yield* pass(60)
        assert.strictEqual(yield* suspended, 1)
        const reach = { tls: null, own_roles: true }
        yield* store.put(new Endpoint({ ...(yield* endpointNow(endpoint.id)), reach }))
        yield* settle
        assert.strictEqual((yield* endpointNow(endpoint.id)).current_state, "active")
        yield* pass(600)
        assert.deepStrictEqual(yield* store.unused, [])
        assert.strictEqual(yield* suspended, 0)
      }).pipe(Effect.provide(Core))
  )

  it.effect(
    "a compute with a busy session is never suspended, however short the timeout and however rare the bytes",
    () =>
      Effect.gen(function* () {
        const { endpoint } = yield* suspendable(1)
        yield* pass(60)
        for (let round = 0; round < 3; round++) {
          yield* report(endpoint.id, { busy: 1 })
          for (let second = 0; second < 15; second++) {
            yield* pass(1)
            assert.strictEqual(yield* suspended, 0)
          }
        }
        yield* report(endpoint.id, { idle_ms: 400 })
        assert.strictEqual(yield* suspended, 0)
        yield* pass(1)
        assert.strictEqual(yield* suspended, 1)
      }).pipe(Effect.provide(Core))
  )

  it.effect("a compute that two proxies serve is suspended when both report it idle", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* suspendable(10)
      yield* pass(60)
      yield* report(endpoint.id, { proxy_id: "p-1", busy: 1 })
      yield* report(endpoint.id, { proxy_id: "p-2", idle_ms: 3_600_000 })
      assert.strictEqual(yield* suspended, 0)
      assert.strictEqual((yield* endpointNow(endpoint.id)).connections, 2)
      yield* pass(9)
      yield* report(endpoint.id, { proxy_id: "p-1", connections: 0, idle_ms: 8_000 })
      yield* report(endpoint.id, { proxy_id: "p-2", idle_ms: 3_600_000 })
      assert.strictEqual(yield* suspended, 0)
      yield* pass(2)
      assert.strictEqual(yield* suspended, 1)
    }).pipe(Effect.provide(Core))
  )

  it.effect(
    "an idle session that was not confirmed for seconds keeps the compute running until its proxy reports",
    () =>
      Effect.gen(function* () {
        const { endpoint } = yield* suspendable(10)
        yield* pass(60)
        yield* report(endpoint.id, { idle_ms: 5_000 })
        yield* pass(14)
        assert.strictEqual(yield* suspended, 0)
        yield* report(endpoint.id, { idle_ms: 19_000 })
        assert.strictEqual(yield* suspended, 1)
      }).pipe(Effect.provide(Core))
  )

  it.effect("nothing is suspended in an outage of the API, nor until every proxy has reported after it", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* suspendable(30)
      yield* pass(60)
      yield* report(endpoint.id, { connections: 0 })
      // Sessions of another proxy begin in the outage, whose end its first report awaits.
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(yield* suspended, 0)
      yield* pass(14)
      assert.strictEqual(yield* suspended, 0)
      yield* report(endpoint.id, { proxy_id: "p-2", busy: 1 })
      yield* pass(30)
      assert.strictEqual(yield* suspended, 0)
      yield* report(endpoint.id, { proxy_id: "p-2", connections: 0, idle_ms: 30_000 })
      assert.strictEqual(yield* suspended, 1)
    }).pipe(Effect.provide(Core))
  )

  it.effect("a proxy that ended without a word is forgotten after five minutes in which it could have reported", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* suspendable(30)
      yield* pass(60)
      yield* report(endpoint.id, { busy: 1 })
      yield* TestClock.adjust("1 hour")
      yield* pass(299)
      assert.strictEqual(yield* suspended, 0)
      yield* pass(2)
      assert.strictEqual(yield* suspended, 1)
    }).pipe(Effect.provide(Core))
  )

  it.effect(
    "a proxy of a version that does not count busy sessions keeps a compute running while it has sessions",
    () =>
      Effect.gen(function* () {
        const { endpoint } = yield* suspendable(1)
        yield* pass(60)
        yield* report(endpoint.id, { proxy_id: null, busy: 1 })
        yield* pass(14)
        assert.strictEqual(yield* suspended, 0)
        // One such proxy has no session; another one that has some reports 15 seconds later.
        yield* report(endpoint.id, { proxy_id: null, connections: 0 })
        yield* pass(20)
        assert.strictEqual(yield* suspended, 0)
        yield* pass(1)
        assert.strictEqual(yield* suspended, 1)
      }).pipe(Effect.provide(Core))
  )

  it.effect("a report that arrives after a later one of its proxy changes nothing", () =>
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const { endpoint } = yield* suspendable(30)
      yield* pass(60)
      const about = { endpoint_id: endpoint.id, generation: 1, connections: 1, idle_ms: 0 }
      yield* store.noteActivity({ proxy_id: "p-1", sequence: 2, endpoints: [{ ...about, busy: 1 }] })
      yield* store.noteActivity({ proxy_id: "p-1", sequence: 1, endpoints: [{ ...about, busy: 0, connections: 0 }] })
      yield* pass(40)
      assert.strictEqual(yield* suspended, 0)
    }).pipe(Effect.provide(Core))
  )

  it.effect("a compute that has just started stays for the clients that authenticate, whatever its timeout", () =>
    Effect.gen(function* () {
      const { endpoint, project } = yield* suspendable(1)
      yield* pass(60)
      assert.strictEqual(yield* suspended, 1)
      yield* settle
      const endpoints = yield* Endpoints
      yield* endpoints.setDesiredState(project, endpoint.id, "active", bySystem)
      yield* settle
      yield* pass(9)
      assert.strictEqual(yield* suspended, 0)
      yield* report(endpoint.id, { generation: 2, connections: 0 })
      yield* pass(1)
      assert.strictEqual(yield* suspended, 1)
    }).pipe(Effect.provide(Core))
  )

  it.effect("an endpoint with a timeout of -1 keeps its compute", () =>
    Effect.gen(function* () {
      yield* suspendable(-1)
      yield* pass(600)
      assert.strictEqual(yield* suspended, 0)
    }).pipe(Effect.provide(Core))
  )

  it.effect("a compute that is used before its suspend begins keeps running", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { endpoint } = yield* runningProject
      yield* pass(300)
      assert.strictEqual(yield* suspended, 1)
      yield* report(endpoint.id, { busy: 1 })
      yield* settle
      assert.isFalse(machines.calls.some((call) => call.startsWith("stop")))
      assert.deepInclude({ ...(yield* endpointNow(endpoint.id)) }, { current_state: "active", pending_state: null })
    }).pipe(Effect.provide(Core))
  )

  it.effect("an idle compute keeps running if a client asks for its start before the suspend begins", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const endpoints = yield* Endpoints
      const { endpoint, project } = yield* runningProject
      yield* pass(300)
      assert.strictEqual(yield* suspended, 1)
      yield* endpoints.setDesiredState(project, endpoint.id, "active", bySystem)
      yield* settle
      assert.isFalse(machines.calls.some((call) => call.startsWith("stop")))
      assert.deepInclude({ ...(yield* endpointNow(endpoint.id)) }, { current_state: "active", generation: 1 })
    }).pipe(Effect.provide(Core))
  )

  it.effect("several instances that suspend an idle compute at once schedule one operation", () =>
    Effect.gen(function* () {
      const operations = yield* OperationStore
      const { branch } = yield* runningProject
      yield* pass(300)
      yield* Effect.all(
        Array.from({ length: 10 }, () => suspended),
        { concurrency: "unbounded" }
      )
      assert.strictEqual((yield* operations.unfinished(branch.id)).length, 1)
    }).pipe(Effect.provide(Core))
  )
})
