/** Lost computes: only a compute of the endpoint and its generation counts as running. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import { EndpointId, OperationId } from "../../src/Ids.ts"
import { ComputeDriver } from "../../src/records/computes/ComputeDriver.ts"
import { ComputeDoubtStore } from "../../src/records/projects/ComputeDoubtStore.ts"
import { Reconciler } from "../../src/runner/Reconciler.ts"
import { IpAllowlist } from "../../src/services/allowlist/IpAllowlist.ts"
import { initiatorOf } from "../../src/services/operations/Operations.ts"
import { OperationWaits } from "../../src/services/operations/OperationWaits.ts"
import { Endpoints } from "../../src/services/projects/Endpoints.ts"
import { ProxyRequests } from "../../src/services/proxy-requests/ProxyRequests.ts"
import { Core, Machines, onEndpoint, settle } from "../memory/core.ts"
import { endpointNow, readyProject, setDesiredState } from "../runner/story.ts"

/** A project whose endpoint runs in its first generation. */
const running = Effect.gen(function* () {
  const given = yield* readyProject
  yield* setDesiredState(given.project, given.endpoint, "active")
  yield* settle
  return given
})

interface Waking {
  readonly unreachable?: number
  /** Whether a runner verifies doubts. */
  readonly verified?: boolean
}

/** Wakes the endpoint while the runner works. Returns the generation that runs. */
const wakeUp = Effect.fnUntraced(function* (id: EndpointId, { unreachable, verified = true }: Waking = {}) {
  const { settleDoubts } = yield* Reconciler
  const requests = yield* ProxyRequests
  const waking = yield* Effect.forkChild(requests.wake(id, "203.0.113.9", unreachable))
  for (let turn = 0; turn < 20 && waking.pollUnsafe() === undefined; turn++) {
    if (verified) yield* settleDoubts
    yield* settle
    yield* TestClock.adjust("250 millis")
  }
  return (yield* Fiber.join(waking)).generation
})

const standing = Effect.flatMap(ComputeDoubtStore, (store) => store.oldest(null, 10))

describe("A wake for a compute that could not be connected to", () => {
  it.effect("a wake starts an endpoint again whose compute runs in another generation", () =>
    Effect.gen(function* () {
      const { branch, endpoint } = yield* running
      const driver = yield* ComputeDriver
      yield* driver.start({ endpoint_id: endpoint.id, branch_id: branch.id, generation: 7, roles: [] })
      assert.strictEqual(yield* wakeUp(endpoint.id, { unreachable: 1 }), 2)
      assert.deepStrictEqual(yield* standing, [])
    }).pipe(Effect.provide(Core))
  )

  it.effect("a wake starts an endpoint again when only another endpoint's compute runs", () =>
    Effect.gen(function* () {
      const { branch, endpoint } = yield* running
      const driver = yield* ComputeDriver
      yield* driver.stop(endpoint.id)
      const neighbour = EndpointId.make("ep-neighbour")
      yield* driver.start({ endpoint_id: neighbour, branch_id: branch.id, generation: 1, roles: [] })
      assert.strictEqual(yield* wakeUp(endpoint.id, { unreachable: 1 }), 2)
    }).pipe(Effect.provide(Core))
  )

  it.effect("a wake does not restart an endpoint whose compute runs, and its doubt is removed", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* running
      assert.strictEqual(yield* wakeUp(endpoint.id, { unreachable: 1 }), 1)
      assert.deepStrictEqual(yield* standing, [])
    }).pipe(Effect.provide(Core))
  )

  it.effect("a wake without a runner never takes a compute for lost: the records hold after three seconds", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* running
      yield* (yield* ComputeDriver).stop(endpoint.id)
      const begun = yield* DateTime.now
      assert.strictEqual(yield* wakeUp(endpoint.id, { unreachable: 1, verified: false }), 1)
      assert.strictEqual((yield* endpointNow(endpoint.id)).current_state, "active")
      const waited = (yield* DateTime.now).epochMilliseconds - begun.epochMilliseconds
      assert.isTrue(waited >= 3_000 && waited < 5_000, String(waited))
    }).pipe(Effect.provide(Core))
  )

  it.effect("a wake for an earlier generation, or without one, doubts nothing", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* running
      yield* (yield* ComputeDriver).stop(endpoint.id)
      const options = { verified: false }
      assert.strictEqual(yield* wakeUp(endpoint.id, { ...options, unreachable: 0 }), 1)
      assert.strictEqual(yield* wakeUp(endpoint.id, options), 1)
      assert.deepStrictEqual(yield* standing, [])
    }).pipe(Effect.provide(Core))
  )

  it.effect("a wake by an unlisted address doubts nothing", () =>
    Effect.gen(function* () {
      const { ada, endpoint, project } = yield* running
      yield* (yield* IpAllowlist).add(project, { cidr: "198.51.100.0/24" }, ada.user.ref)
      const refused = yield* Effect.flip((yield* ProxyRequests).wake(endpoint.id, "203.0.113.9", 1))
      assert.strictEqual(refused._tag, "AddressNotListed")
      assert.deepStrictEqual(yield* standing, [])
    }).pipe(Effect.provide(Core))
  )

  it.effect("a doubt stands while the driver cannot tell, and is without effect once the endpoint has changed", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { ada, endpoint, project } = yield* running
      const { settleDoubts } = yield* Reconciler
      const doubt = { endpoint_id: endpoint.id, generation: 1 }
      yield* (yield* ComputeDoubtStore).record(doubt, yield* DateTime.now)
      machines.silent = true
      assert.strictEqual(yield* settleDoubts, 0)
      assert.deepStrictEqual(yield* standing, [doubt])
      machines.silent = false
      yield* setDesiredState(project, endpoint, "idle", initiatorOf(ada))
      yield* settle
      yield* setDesiredState(project, endpoint, "active")
      yield* settle
      yield* (yield* ComputeDriver).stop(endpoint.id)
      assert.strictEqual(yield* settleDoubts, 0)
      assert.deepStrictEqual(yield* standing, [])
      assert.deepInclude({ ...(yield* endpointNow(endpoint.id)) }, { current_state: "active", generation: 2 })
    }).pipe(Effect.provide(Core))
  )
})

describe("A wait for an operation that does not exist", () => {
  it.effect("a wait for an operation that does not exist returns at once", () =>
    Effect.gen(function* () {
      const { settled } = yield* OperationWaits
      const waiting = yield* Effect.forkChild(settled(OperationId.make("none"), Duration.seconds(30)))
      yield* TestClock.adjust("100 millis")
      assert.isDefined(waiting.pollUnsafe())
      assert.isTrue(Option.isNone(yield* Fiber.join(waiting)))
    }).pipe(Effect.provide(Core))
  )
})

describe("A change of an endpoint", () => {
  it.effect("a change of an endpoint changes only the members that it names", () =>
    Effect.gen(function* () {
      const { ada, endpoint, project } = yield* readyProject
      const { change } = yield* Endpoints
      yield* change(ada, onEndpoint, project, endpoint, { disabled: true })
      yield* change(ada, onEndpoint, project, endpoint, { suspend_timeout_seconds: 77 })
      assert.deepInclude({ ...(yield* endpointNow(endpoint.id)) }, { disabled: true, suspend_timeout_seconds: 77 })
      yield* change(ada, onEndpoint, project, endpoint, { disabled: false })
      assert.deepInclude({ ...(yield* endpointNow(endpoint.id)) }, { disabled: false, suspend_timeout_seconds: 77 })
    }).pipe(Effect.provide(Core))
  )
})
