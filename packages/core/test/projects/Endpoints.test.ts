import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { endpointChangeOf } from "../../src/records/events/EndpointChange.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import { OperationRunner } from "../../src/runner/OperationRunner.ts"
import { bySystem, initiatorOf } from "../../src/services/operations/Operations.ts"
import { Endpoints } from "../../src/services/projects/Endpoints.ts"
import { Projects } from "../../src/services/projects/Projects.ts"
import { Core, keyCallerOf, logged, Machines, onEndpoint, settle, signedIn, tagOf } from "../memory/core.ts"

const made = Effect.gen(function* () {
  const projects = yield* Projects
  const ada = yield* signedIn("ada")
  return { ada, ...(yield* projects.create(ada, { name: "shop", region: null })) }
})
const setting = Effect.tap(made, () => settle)
const now = ({ endpoint }: Effect.Success<typeof made>) =>
  Effect.flatMap(EndpointStore, (store) => Effect.map(store.findAnywhere(endpoint.id), Option.getOrThrow))

describe("Starting and suspending", () => {
  it.effect("repeating a start or suspend schedules nothing, and returns the unfinished operation", () =>
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const given = yield* setting
      const towards = (state: "active" | "idle") =>
        Effect.map(endpoints.setDesiredState(given.project, given.endpoint.id, state, bySystem), ({ operations }) =>
          operations.map(({ id }) => id)
        )
      assert.deepStrictEqual(yield* towards("idle"), [])
      const started = yield* towards("active")
      assert.strictEqual(started.length, 1)
      assert.deepStrictEqual(yield* towards("active"), started)
      assert.strictEqual((yield* now(given)).pending_state, "active")
      yield* settle
      assert.deepStrictEqual(yield* towards("active"), [])
      const many = yield* Effect.forEach(Array.from({ length: 20 }), () => towards("idle"), {
        concurrency: "unbounded"
      })
      assert.strictEqual(new Set(many.flat()).size, 1)
    }).pipe(Effect.provide(Core))
  )

  it.effect("a start is accepted while the branch is being created, and stays pending until it runs", () =>
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const given = yield* made
      yield* endpoints.setDesiredState(given.project, given.endpoint.id, "active", initiatorOf(given.ada))
      const { runOne } = yield* OperationRunner
      yield* runOne // makes the branch
      assert.deepInclude({ ...(yield* now(given)) }, { current_state: "idle", pending_state: "active" })
      yield* settle
      assert.deepInclude({ ...(yield* now(given)) }, { current_state: "active", pending_state: null })
    }).pipe(Effect.provide(Core))
  )

  it.effect("starting a disabled endpoint is a conflict, and disabling suspends the compute", () =>
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const given = yield* setting
      const start = endpoints.setDesiredState(given.project, given.endpoint.id, "active", bySystem)
      yield* start
      yield* settle
      const { endpoint, operations } = yield* endpoints.change(given.ada, onEndpoint, given.project, given.endpoint, {
        disabled: true
      })
      assert.isTrue(endpoint.disabled)
      assert.deepStrictEqual(
        operations.map(({ action }) => action),
        ["suspend_compute"]
      )
      yield* settle
      assert.strictEqual((yield* now(given)).current_state, "idle")
      assert.strictEqual(yield* tagOf(start), "Conflict")
      yield* endpoints.change(given.ada, onEndpoint, given.project, given.endpoint, { disabled: false })
      assert.strictEqual((yield* start).operations.length, 1)
    }).pipe(Effect.provide(Core))
  )
})

describe("A new endpoint", () => {
  it.effect("a branch may have several read-only endpoints and one read-write endpoint", () =>
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const { ada, branch, project } = yield* setting
      const wanted = { branch_id: branch.id, type: "read_only" as const, suspend_timeout_seconds: -1 }
      for (let n = 0; n < 2; n++) {
        const { endpoint } = yield* endpoints.create(ada, project, wanted)
        assert.deepInclude({ ...endpoint }, { type: "read_only", suspend_timeout_seconds: -1, current_state: "init" })
      }
      assert.strictEqual(yield* tagOf(endpoints.create(ada, project, { ...wanted, type: "read_write" })), "Conflict")
    }).pipe(Effect.provide(Core))
  )

  it.effect("an endpoint is created on a branch of the same project only", () =>
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const projects = yield* Projects
      const { ada, project } = yield* setting
      const foreign = yield* projects.create(ada, { name: "other", region: null })
      const answers = yield* Effect.forEach([foreign.branch.id, "br-nope", ""], (id) =>
        Effect.flip(endpoints.create(ada, project, { branch_id: id, type: "read_only", suspend_timeout_seconds: null }))
      )
      assert.strictEqual(answers[0]?._tag, "InvalidMember")
      for (const answer of answers) assert.deepStrictEqual(answer, answers[0])
    }).pipe(Effect.provide(Core))
  )
})

describe("Removing an endpoint", () => {
  it.effect("deleting an endpoint stops its compute and skips its unfinished operations", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const endpoints = yield* Endpoints
      const given = yield* setting
      yield* endpoints.setDesiredState(given.project, given.endpoint.id, "active", bySystem)
      yield* endpoints.remove(given.ada, onEndpoint, given.project, given.endpoint)
      yield* settle
      assert.deepStrictEqual(machines.starts, [])
      assert.include(machines.calls, `stop ${given.endpoint.id}`)
      assert.strictEqual(
        yield* tagOf(endpoints.remove(given.ada, onEndpoint, given.project, given.endpoint)),
        "NotFound"
      )
    }).pipe(Effect.provide(Core))
  )
})

describe("The notification of proxies", () => {
  /** The endpoints that the events since the start name, in order. */
  const notified = Effect.map(logged, (events) =>
    events.flatMap((event) => Option.toArray(endpointChangeOf(event))).map(({ endpoint_id }) => endpoint_id)
  )

  it.effect("an endpoint that is suspended, disabled or deleted is one event, and no other change is", () =>
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const { ada, endpoint, project } = yield* setting
      const steps = [
        [endpoints.setDesiredState(project, endpoint.id, "active", bySystem), 0],
        [endpoints.setDesiredState(project, endpoint.id, "idle", initiatorOf(ada)), 1],
        [endpoints.change(ada, onEndpoint, project, endpoint, { suspend_timeout_seconds: 60 }), 0],
        [endpoints.change(ada, onEndpoint, project, endpoint, { disabled: true }), 1],
        [endpoints.change(ada, onEndpoint, project, endpoint, { disabled: true }), 0],
        [endpoints.change(ada, onEndpoint, project, endpoint, { disabled: false }), 0],
        [endpoints.remove(ada, onEndpoint, project, endpoint), 1]
      ] as const
      for (const [n, [step, events]] of steps.entries()) {
        const before = (yield* notified).length
        yield* Effect.asVoid<unknown, unknown, never>(step)
        yield* settle
        const after = (yield* notified).slice(before)
        assert.deepStrictEqual(
          after,
          Array.from({ length: events }, () => endpoint.id),
          `step ${n}`
        )
      }
    }).pipe(Effect.provide(Core))
  )

  it.effect("disabling an endpoint is an event of its transaction although a suspend is under way", () =>
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const { ada, endpoint, project } = yield* setting
      yield* endpoints.setDesiredState(project, endpoint.id, "active", bySystem)
      yield* settle
      yield* endpoints.setDesiredState(project, endpoint.id, "idle", bySystem)
      yield* endpoints.change(ada, onEndpoint, project, endpoint, { disabled: true })
      assert.deepStrictEqual(yield* notified, [endpoint.id])
    }).pipe(Effect.provide(Core))
  )

  it.effect("the deletion of a project is an event for each of its endpoints", () =>
    Effect.gen(function* () {
      const { ada, branch, endpoint, project } = yield* setting
      const wanted = { branch_id: branch.id, type: "read_only" as const, suspend_timeout_seconds: null }
      const second = yield* (yield* Endpoints).create(ada, project, wanted)
      yield* (yield* Projects).remove(ada, project)
      assert.sameMembers(yield* notified, [endpoint.id, second.endpoint.id])
    }).pipe(Effect.provide(Core))
  )
})

describe("The initiator of an operation", () => {
  it.effect("an operation names the user by email address, or the API key by name", () =>
    Effect.gen(function* () {
      const { ada } = yield* setting
      assert.deepStrictEqual({ ...initiatorOf(ada) }, { type: "user", id: ada.user.id, name: "ada@example.com" })
      const key = yield* keyCallerOf(ada, "agent")
      assert.deepStrictEqual({ ...initiatorOf(key) }, { type: "api_key", id: key.api_key_id, name: "agent" })
    }).pipe(Effect.provide(Core))
  )
})
