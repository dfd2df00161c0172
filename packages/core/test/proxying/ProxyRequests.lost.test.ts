/** Lost computes: only a compute of the endpoint and its generation counts as running. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import { ComputeDriver } from "../../src/computes/ComputeDriver.ts"
import { EndpointId, OperationId } from "../../src/Ids.ts"
import { OperationWaits } from "../../src/operations/OperationWaits.ts"
import { Endpoints } from "../../src/provisioning/Endpoints.ts"
import { ProxyRequests } from "../../src/proxying/ProxyRequests.ts"
import { Core, onEndpoint, settle } from "../memory/core.ts"
import { endpointNow, readyProject, setDesiredState } from "../runner/story.ts"

/** A project whose endpoint runs in its first generation. */
const running = Effect.gen(function* () {
  const given = yield* readyProject
  yield* setDesiredState(given.project, given.endpoint, "active")
  yield* settle
  return given
})

/** Wakes the endpoint while the runner works. Returns the generation that runs. */
const wakeUp = Effect.fnUntraced(function* (id: EndpointId) {
  const waking = yield* Effect.forkChild(Effect.flatMap(ProxyRequests, (requests) => requests.wake(id, "203.0.113.9")))
  for (let turn = 0; turn < 20 && waking.pollUnsafe() === undefined; turn++) {
    yield* settle
    yield* TestClock.adjust("250 millis")
  }
  return (yield* Fiber.join(waking)).generation
})

describe("A wake", () => {
  it.effect("a wake starts an endpoint again whose compute runs in another generation", () =>
    Effect.gen(function* () {
      const { branch, endpoint } = yield* running
      const driver = yield* ComputeDriver
      yield* driver.start({ endpoint_id: endpoint.id, branch_id: branch.id, generation: 7, roles: [] })
      assert.strictEqual(yield* wakeUp(endpoint.id), 2)
    }).pipe(Effect.provide(Core))
  )

  it.effect("a wake starts an endpoint again when only another endpoint's compute runs", () =>
    Effect.gen(function* () {
      const { branch, endpoint } = yield* running
      const driver = yield* ComputeDriver
      yield* driver.stop(endpoint.id)
      const neighbour = EndpointId.make("ep-neighbour")
      yield* driver.start({ endpoint_id: neighbour, branch_id: branch.id, generation: 1, roles: [] })
      assert.strictEqual(yield* wakeUp(endpoint.id), 2)
    }).pipe(Effect.provide(Core))
  )

  it.effect("a wake does not restart an endpoint whose compute runs", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* running
      assert.strictEqual(yield* wakeUp(endpoint.id), 1)
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
