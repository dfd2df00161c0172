import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { ComputeDriver } from "../../src/records/computes/ComputeDriver.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import { Endpoint } from "../../src/records/projects/Endpoint.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import { Reconciler } from "../../src/runner/Reconciler.ts"
import { bySystem } from "../../src/services/operations/Operations.ts"
import { Branches } from "../../src/services/projects/Branches.ts"
import { Endpoints } from "../../src/services/projects/Endpoints.ts"
import { Projects } from "../../src/services/projects/Projects.ts"
import { Core, keyCallerOf, Machines, settle } from "../memory/core.ts"
import { endpointNow, onBranch, runningProject } from "./story.ts"

describe("A branch that expires", () => {
  const wanted = { name: null, parent_id: null, protected: false, ttl_seconds: 60, endpoint: true }

  it.effect("a branch that expires is ended with its endpoints, its keys and its data", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const branches = yield* Branches
      const endpoints = yield* Endpoints
      const reconciler = yield* Reconciler
      const store = yield* BranchStore
      const { ada, project } = yield* runningProject
      const { branch, endpoint } = yield* branches.create(ada, project, wanted)
      const key = yield* keyCallerOf(ada, "read_write", { type: "branch", branch_id: branch.id })
      if (endpoint === null) throw new Error("no endpoint")
      yield* endpoints.setDesiredState(project, endpoint.id, "active", bySystem)
      yield* settle
      yield* TestClock.adjust(59_999)
      assert.strictEqual(yield* reconciler.endExpired, 0)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* reconciler.endExpired, 1)
      assert.isTrue(Option.isNone(yield* store.find(project.id, branch.id)))
      assert.isTrue(Option.isNone(yield* (yield* EndpointStore).findAnywhere(endpoint.id)))
      yield* settle
      assert.include(machines.calls, `deleteBranch ${branch.id}`)
      assert.isFalse((yield* (yield* ComputeDriver).running).some((it) => it.branch_id === branch.id))
      assert.strictEqual(yield* reconciler.endExpired, 0)
      assert.strictEqual(key.scope.type, "branch")
      const listed = yield* Effect.flatMap(OperationStore, (it) =>
        it.list(project.id, { branch_id: branch.id }, { limit: 9, after: null })
      )
      assert.strictEqual(listed.items.find(({ action }) => action === "delete_timeline")?.initiator.type, "system")
    }).pipe(Effect.provide(Core))
  )

  it.effect("an expired branch with children is ended once they are gone", () =>
    Effect.gen(function* () {
      const branches = yield* Branches
      const reconciler = yield* Reconciler
      const { ada, project } = yield* runningProject
      const { branch } = yield* branches.create(ada, project, wanted)
      const child = yield* branches.create(ada, project, { ...wanted, parent_id: branch.id, ttl_seconds: null })
      yield* settle
      yield* TestClock.adjust("1 second")
      yield* settle
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(yield* reconciler.endExpired, 0)
      yield* branches.remove(ada, onBranch, child.branch)
      assert.strictEqual(yield* reconciler.endExpired, 1)
    }).pipe(Effect.provide(Core))
  )

  it.effect("a branch that becomes the default branch no longer expires", () =>
    Effect.gen(function* () {
      const branches = yield* Branches
      const reconciler = yield* Reconciler
      const { ada, project } = yield* runningProject
      const { branch } = yield* branches.create(ada, project, wanted)
      yield* settle
      const { branch: main } = yield* branches.setDefault(ada, branch)
      assert.isNull(main.expires_at)
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(yield* reconciler.endExpired, 0)
    }).pipe(Effect.provide(Core))
  )
})

describe("Recording lost computes", () => {
  it.effect("an endpoint whose compute is lost is recorded as suspended, and no other", () =>
    Effect.gen(function* () {
      const driver = yield* ComputeDriver
      const endpoints = yield* Endpoints
      const reconciler = yield* Reconciler
      const projects = yield* Projects
      const { ada, endpoint } = yield* runningProject
      const other = yield* projects.create(ada, { name: "other", region: null })
      yield* endpoints.setDesiredState(other.project, other.endpoint.id, "active", bySystem)
      yield* settle
      yield* driver.stop(endpoint.id)
      assert.strictEqual(yield* reconciler.recordLost, 1)
      assert.deepInclude({ ...(yield* endpointNow(endpoint.id)) }, { current_state: "idle", address: null })
      assert.strictEqual((yield* endpointNow(other.endpoint.id)).current_state, "active")
      assert.strictEqual(yield* reconciler.recordLost, 0)
    }).pipe(Effect.provide(Core))
  )
})

describe("How a compute is reached", () => {
  it.effect("a runner corrects a wrong record of how a compute is reached, and writes no right one", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* runningProject
      const store = yield* EndpointStore
      const reconciler = yield* Reconciler
      const stored = yield* endpointNow(endpoint.id)
      yield* store.put(new Endpoint({ ...stored, reach: { tls: { ca: "of before" }, own_roles: true } }))
      assert.strictEqual(yield* reconciler.recordLost, 0)
      assert.isNull((yield* endpointNow(endpoint.id)).reach)
      const settled = yield* endpointNow(endpoint.id)
      yield* TestClock.adjust("1 minute")
      yield* reconciler.recordLost
      assert.deepStrictEqual(yield* endpointNow(endpoint.id), settled, "what is the same is not written")
    }).pipe(Effect.provide(Core))
  )
})
