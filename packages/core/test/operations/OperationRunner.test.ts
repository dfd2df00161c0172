import { assert, describe, it } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import type { SessionCaller } from "../../src/authorization/Principal.ts"
import type { BranchId, EndpointId, OperationId } from "../../src/Ids.ts"
import { ComputeDriver, ComputeFailed } from "../../src/operations/ComputeDriver.ts"
import { type OperationAction, StoredOperation } from "../../src/operations/Operation.ts"
import { OperationRunner } from "../../src/operations/OperationRunner.ts"
import { bySystem, initiatorOf, Operations } from "../../src/operations/Operations.ts"
import { OperationStore } from "../../src/operations/OperationStore.ts"
import { Branches } from "../../src/projects/Branches.ts"
import { BranchStore } from "../../src/projects/BranchStore.ts"
import { Credentials } from "../../src/projects/Credentials.ts"
import type { Endpoint } from "../../src/projects/Endpoint.ts"
import { Endpoints } from "../../src/projects/Endpoints.ts"
import { EndpointStore } from "../../src/projects/EndpointStore.ts"
import type { Project } from "../../src/projects/Project.ts"
import { Projects } from "../../src/projects/Projects.ts"
import { Transaction } from "../../src/Transaction.ts"
import { changes } from "../../src/authorization/Policy.ts"
import { anotherRunner, Core, logged, Machines, settle, signedIn, until } from "../memory/core.ts"

const onBranch = changes("write", "change_projects", "branch")

const aTeamsProject = Effect.gen(function* () {
  const projects = yield* Projects
  const ada = yield* signedIn("ada")
  return { ada, ...(yield* projects.create(ada, { name: "shop", region: null })) }
})

const readyProject = Effect.tap(aTeamsProject, () => settle)

const operation = (id: OperationId) =>
  Effect.flatMap(OperationStore, (store) => Effect.map(store.find(id), Option.getOrThrow))
const endpointNow = (id: EndpointId) =>
  Effect.flatMap(EndpointStore, (store) => Effect.map(store.findAnywhere(id), Option.getOrThrow))
const branchNow = (project: Project, id: BranchId) =>
  Effect.flatMap(BranchStore, (store) => Effect.map(store.find(project.id, id), Option.getOrThrow))
const head = (project: Project, { id }: Endpoint, towards: "active" | "idle", by = bySystem) =>
  Effect.flatMap(Endpoints, (endpoints) => endpoints.head(project, id, towards, by))

/** The statuses that were told of an operation, in order. */
const told = (id: OperationId) =>
  Effect.map(logged, (events) =>
    events.filter(({ data }) => data["operation_id"] === id).map(({ data }) => String(data["status"]))
  )

const only = (operations: ReadonlyArray<StoredOperation>) => {
  const [first, ...rest] = operations
  if (first === undefined || rest.length > 0) throw new Error(`Expected one operation, not ${operations.length}.`)
  return first
}

/** A child of main with an endpoint, ready. */
const readyChild = (ada: SessionCaller, project: Project) =>
  Effect.gen(function* () {
    const branches = yield* Branches
    const made = yield* branches.create(ada, project, {
      name: null,
      parent_id: null,
      protected: false,
      ttl_seconds: null,
      endpoint: true
    })
    yield* settle
    if (made.endpoint === null) throw new Error("no endpoint")
    return { ...made, endpoint: made.endpoint }
  })

describe("Every action", () => {
  it.effect("goes from scheduling over running to finished, with one event a status, and reaches the machines", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const branches = yield* Branches
      const endpoints = yield* Endpoints
      const credentials = yield* Credentials
      const projects = yield* Projects
      const seen = new Map<OperationAction, StoredOperation>()
      const finish = Effect.fnUntraced(function* (operations: ReadonlyArray<StoredOperation>) {
        const made = only(operations)
        yield* settle
        seen.set(made.action, yield* operation(made.id))
        assert.deepStrictEqual(yield* told(made.id), ["scheduling", "running", "finished"], made.action)
      })

      const { ada, branch, endpoint, operations, project } = yield* aTeamsProject
      assert.strictEqual((yield* branchNow(project, branch.id)).current_state, "init")
      yield* finish(operations)
      assert.strictEqual((yield* branchNow(project, branch.id)).current_state, "ready")
      assert.isNull((yield* branchNow(project, branch.id)).pending_state)
      assert.deepInclude({ ...(yield* endpointNow(endpoint.id)) }, { current_state: "idle", pending_state: null })

      const child = yield* branches.create(ada, project, {
        name: "child",
        parent_id: null,
        protected: false,
        ttl_seconds: null,
        endpoint: false
      })
      yield* finish(child.operations)
      const made = yield* endpoints.create(ada, project, child.branch, {
        branch_id: child.branch.id,
        type: "read_write",
        suspend_timeout_seconds: null
      })
      yield* finish(made.operations)
      yield* finish((yield* head(project, made.endpoint, "active")).operations)
      assert.deepInclude(
        { ...(yield* endpointNow(made.endpoint.id)) },
        { current_state: "active", pending_state: null, generation: 1, address: "memory.invalid:1", suspended_at: null }
      )
      const minting = yield* Effect.forkChild(credentials.mint(ada, project, child.branch, "read_write", null))
      const store = yield* OperationStore
      yield* until(Effect.map(store.unfinished(child.branch.id), (found) => found.length > 0))
      yield* finish(yield* store.unfinished(child.branch.id))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(minting)
      yield* finish((yield* head(project, made.endpoint, "idle")).operations)
      const asleep = yield* endpointNow(made.endpoint.id)
      assert.deepInclude({ ...asleep }, { current_state: "idle", pending_state: null, address: null, generation: 1 })
      assert.isNotNull(asleep.suspended_at)
      yield* finish((yield* branches.reset(ada, onBranch, child.branch)).operations)
      assert.strictEqual((yield* branchNow(project, child.branch.id)).current_state, "ready")
      yield* finish(yield* endpoints.remove(ada, project, made.endpoint))
      yield* finish(yield* branches.remove(ada, onBranch, child.branch))
      yield* projects.remove(ada, project)
      yield* settle

      assert.sameMembers(
        [...seen.keys()],
        [
          "create_timeline",
          "create_branch",
          "create_compute",
          "start_compute",
          "apply_config",
          "suspend_compute",
          "reset_branch",
          "delete_compute",
          "delete_timeline"
        ]
      )
      for (const { error, failures_count, finished_at, lease_owner, retry_at, started_at } of seen.values()) {
        assert.deepStrictEqual(
          { error, failures_count, lease_owner, retry_at },
          { error: null, failures_count: 0, lease_owner: null, retry_at: null }
        )
        assert.isNotNull(started_at)
        assert.isNotNull(finished_at)
      }
      assert.deepStrictEqual(
        machines.calls.map((call) => call.split(" ")[0]),
        [
          "createBranch",
          "createBranch",
          "start",
          "applyRoles",
          "stop",
          "resetBranch",
          "stop",
          "deleteBranch",
          "deleteBranch"
        ]
      )
    }).pipe(Effect.provide(Core))
  )
})

describe("The events of operations", () => {
  it.effect("name what there is, and leave out what there is not: never a null", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { ada, branch, endpoint, operations, project } = yield* readyProject
      const [first] = (yield* logged).filter(({ data }) => data["operation_id"] === only(operations).id)
      assert.deepStrictEqual(first?.data, {
        operation_id: only(operations).id,
        action: "create_timeline",
        status: "scheduling",
        branch_id: branch.id,
        endpoint_id: endpoint.id,
        initiator: { type: "user", id: ada.user.id, name: "ada@example.com" }
      })
      assert.strictEqual(first?.project_id, project.id)
      assert.strictEqual(first?.source, "operations")

      machines.before = () => Effect.fail(new ComputeFailed({ reason: "no disk", retryable: false }))
      const started = only((yield* head(project, endpoint, "active")).operations)
      yield* settle
      const last = (yield* logged).findLast(({ data }) => data["operation_id"] === started.id)
      assert.deepStrictEqual(last?.data, {
        operation_id: started.id,
        action: "start_compute",
        status: "error",
        branch_id: branch.id,
        endpoint_id: endpoint.id,
        error: "no disk",
        initiator: { type: "system" }
      })
    }).pipe(Effect.provide(Core))
  )

  it.effect("belong to the transaction of the state: what is undone was never told", () =>
    Effect.gen(function* () {
      const { run } = yield* Transaction
      const operations = yield* Operations
      const store = yield* OperationStore
      const { branch, project } = yield* readyProject
      const before = yield* logged
      const work = {
        project,
        branch_id: branch.id,
        endpoint_id: null,
        action: "apply_config",
        initiator: bySystem
      } as const
      let made: OperationId | undefined
      const undone = Effect.gen(function* () {
        const scheduled = yield* operations.schedule(work)
        made = scheduled.id
        yield* operations.move(scheduled, "running")
        return yield* Effect.fail("undone" as const)
      })
      assert.strictEqual(yield* Effect.flip(run(undone)), "undone")
      assert.deepStrictEqual(yield* logged, before)
      assert.isDefined(made)
      if (made !== undefined) assert.isTrue(Option.isNone(yield* store.find(made)))
    }).pipe(Effect.provide(Core))
  )

  it.effect("cannot be told outside of a transaction, nor of a move that is none", () =>
    Effect.gen(function* () {
      const { run } = yield* Transaction
      const operations = yield* Operations
      const { branch, project } = yield* readyProject
      const work = {
        project,
        branch_id: branch.id,
        endpoint_id: null,
        action: "apply_config",
        initiator: bySystem
      } as const
      assert.strictEqual((yield* Effect.exit(operations.schedule(work)))._tag, "Failure")
      const scheduled = yield* run(operations.schedule(work))
      const before = yield* logged
      assert.strictEqual((yield* Effect.exit(run(operations.move(scheduled, "finished"))))._tag, "Failure")
      assert.deepStrictEqual(yield* logged, before)
    }).pipe(Effect.provide(Core))
  )
})

describe("A driver that fails", () => {
  const down = new ComputeFailed({ reason: "the machine is busy", retryable: true })

  it.effect("is tried again inside running, without a word, until it works; then nothing of it is left", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { endpoint, project } = yield* readyProject
      let failures = 3
      machines.before = () => (failures-- > 0 ? Effect.fail(down) : Effect.void)
      const { id } = only((yield* head(project, endpoint, "active")).operations)
      for (const pause of [500, 1000, 2000]) {
        yield* settle
        const trying = yield* operation(id)
        assert.deepInclude({ ...trying }, { status: "running", error: "the machine is busy" })
        yield* TestClock.adjust(pause - 1)
        assert.strictEqual(yield* settle, 0, `${pause} ms are not over`)
        yield* TestClock.adjust(1)
      }
      yield* settle
      assert.deepInclude(
        { ...(yield* operation(id)) },
        { status: "finished", failures_count: 3, error: null, retry_at: null }
      )
      assert.deepStrictEqual(yield* told(id), ["scheduling", "running", "finished"])
      assert.strictEqual((yield* endpointNow(endpoint.id)).generation, 1)
      assert.deepStrictEqual(
        machines.starts.map(({ generation }) => generation),
        [1, 1, 1, 1]
      )
    }).pipe(Effect.provide(Core))
  )

  it.effect("fails the operation after the last retry, and the endpoint waits for nothing", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { endpoint, project } = yield* readyProject
      machines.before = () => Effect.fail(down)
      const { id } = only((yield* head(project, endpoint, "active")).operations)
      for (let n = 0; n < 8; n++) {
        yield* settle
        yield* TestClock.adjust("30 seconds")
      }
      assert.deepInclude({ ...(yield* operation(id)) }, { status: "failed", failures_count: 5, error: down.reason })
      assert.deepStrictEqual(yield* told(id), ["scheduling", "running", "failed"])
      assert.deepInclude(
        { ...(yield* endpointNow(endpoint.id)) },
        { current_state: "idle", pending_state: null, address: null }
      )
    }).pipe(Effect.provide(Core))
  )

  it.effect("ends the operation in error at once where trying again cannot help", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { branch, endpoint, operations, project } = yield* aTeamsProject
      machines.before = () => Effect.fail(new ComputeFailed({ reason: "no binaries", retryable: false }))
      yield* settle
      assert.deepInclude({ ...(yield* operation(only(operations).id)) }, { status: "error", failures_count: 1 })
      assert.deepInclude({ ...(yield* branchNow(project, branch.id)) }, { current_state: "init", pending_state: null })
      assert.deepInclude({ ...(yield* endpointNow(endpoint.id)) }, { current_state: "init", pending_state: null })
    }).pipe(Effect.provide(Core))
  )

  it.effect("and one that dies does not hold its branch for ever", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { operations } = yield* aTeamsProject
      machines.before = () => Effect.die(new Error("a bug"))
      for (let n = 0; n < 8; n++) {
        yield* settle
        yield* TestClock.adjust("30 seconds")
      }
      const failed = yield* operation(only(operations).id)
      assert.strictEqual(failed.status, "failed")
      assert.notInclude(failed.error, "a bug")
    }).pipe(Effect.provide(Core))
  )
})

describe("The operations of a branch", () => {
  it.effect("run one after another in the order of their making, and those of another branch beside them", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { ada, endpoint, project } = yield* readyProject
      const child = yield* readyChild(ada, project)
      const gate = yield* Deferred.make<void>()
      machines.before = (call) => (call.startsWith(`start ${endpoint.id}`) ? Deferred.await(gate) : Effect.void)
      const start = only((yield* head(project, endpoint, "active")).operations)
      const suspend = only((yield* head(project, endpoint, "idle", initiatorOf(ada))).operations)
      const elsewhere = only((yield* head(project, child.endpoint, "active")).operations)
      const { runOne } = yield* OperationRunner
      const held = yield* Effect.forkChild(runOne)
      yield* TestClock.adjust(1)
      yield* settle
      const statuses = Effect.forEach([start, suspend, elsewhere], ({ id }) =>
        Effect.map(operation(id), ({ status }) => status)
      )
      assert.deepStrictEqual(yield* statuses, ["running", "scheduling", "finished"])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(held)
      yield* settle
      assert.deepStrictEqual(yield* statuses, ["finished", "finished", "finished"])
      assert.strictEqual((yield* endpointNow(endpoint.id)).current_state, "idle")
    }).pipe(Effect.provide(Core))
  )

  it.effect("wait in scheduling for the branch that theirs is to be a copy of", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const branches = yield* Branches
      const { ada, branch, operations, project } = yield* aTeamsProject
      const gate = yield* Deferred.make<void>()
      machines.before = (call) => (call.startsWith(`createBranch ${branch.id}`) ? Deferred.await(gate) : Effect.void)
      const child = yield* branches.create(ada, project, {
        name: null,
        parent_id: null,
        protected: false,
        ttl_seconds: null,
        endpoint: false
      })
      const { runOne } = yield* OperationRunner
      const held = yield* Effect.forkChild(runOne)
      for (let n = 0; n < 5; n++) {
        yield* TestClock.adjust("1 second")
        yield* settle
      }
      const { id } = only(child.operations)
      assert.strictEqual((yield* operation(id)).status, "scheduling")
      assert.strictEqual((yield* operation(only(operations).id)).status, "running")
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(held)
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.deepStrictEqual(yield* told(id), ["scheduling", "running", "finished"])
      assert.strictEqual((yield* branchNow(project, child.branch.id)).current_state, "ready")
    }).pipe(Effect.provide(Core))
  )

  it.effect("that nobody wants any more are skipped", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const endpoints = yield* Endpoints
      const projects = yield* Projects
      const { ada, endpoint, project } = yield* readyProject
      const calls = machines.calls.length
      const start = only((yield* head(project, endpoint, "active")).operations)
      yield* endpoints.change(ada, project, endpoint, { disabled: true })
      yield* settle
      assert.deepStrictEqual(yield* told(start.id), ["scheduling", "skipped"])
      assert.deepInclude({ ...(yield* endpointNow(endpoint.id)) }, { generation: 0, pending_state: null })
      assert.strictEqual(machines.calls.length, calls)

      const other = yield* projects.create(ada, { name: "short-lived", region: null })
      yield* projects.remove(ada, other.project)
      yield* settle
      assert.deepStrictEqual(yield* told(only(other.operations).id), ["scheduling", "skipped"])
      assert.deepStrictEqual(machines.calls.slice(calls), [`deleteBranch ${other.branch.id}`])
    }).pipe(Effect.provide(Core))
  )

  it.effect(
    "of the system are skipped when somebody used the compute meanwhile; a start after that is skipped too",
    () =>
      Effect.gen(function* () {
        const machines = yield* Machines
        const store = yield* EndpointStore
        const { endpoint, project } = yield* readyProject
        yield* head(project, endpoint, "active")
        yield* settle
        const calls = machines.calls.length
        const suspend = only((yield* head(project, endpoint, "idle")).operations)
        const start = only((yield* head(project, endpoint, "active")).operations)
        yield* TestClock.adjust("1 second")
        yield* store.noteActivity([
          { endpoint_id: endpoint.id, generation: 1, connections: 1, last_active_at: yield* DateTime.now }
        ])
        yield* settle
        assert.deepStrictEqual(yield* told(suspend.id), ["scheduling", "skipped"])
        assert.deepStrictEqual(yield* told(start.id), ["scheduling", "skipped"])
        assert.deepInclude(
          { ...(yield* endpointNow(endpoint.id)) },
          { current_state: "active", pending_state: null, generation: 1, address: "memory.invalid:1" }
        )
        assert.strictEqual(machines.calls.length, calls)
      }).pipe(Effect.provide(Core))
  )
})

describe("A lease", () => {
  it.effect("is kept while the work takes long, so no other worker gets it", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { endpoint, project } = yield* readyProject
      const other = yield* anotherRunner
      const gate = yield* Deferred.make<void>()
      machines.before = () => Deferred.await(gate)
      const { id } = only((yield* head(project, endpoint, "active")).operations)
      const { runOne } = yield* OperationRunner
      const held = yield* Effect.forkChild(runOne)
      for (let n = 0; n < 20; n++) {
        yield* TestClock.adjust("15 seconds")
        assert.isFalse(yield* other)
      }
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(held)
      assert.strictEqual(machines.starts.length, 1)
      assert.strictEqual((yield* operation(id)).status, "finished")
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("that went to another worker leaves the late one nothing to say", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const store = yield* OperationStore
      const { endpoint, project } = yield* readyProject
      const gate = yield* Deferred.make<void>()
      machines.before = () => Deferred.await(gate)
      const { id } = only((yield* head(project, endpoint, "active")).operations)
      const { runOne } = yield* OperationRunner
      const late = yield* Effect.forkChild(runOne)
      yield* TestClock.adjust(1)
      const row = yield* operation(id)
      yield* store.update(new StoredOperation({ ...row, lease_owner: "another" }))
      const before = yield* endpointNow(endpoint.id)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(late)
      assert.strictEqual((yield* operation(id)).status, "running")
      assert.deepStrictEqual(yield* endpointNow(endpoint.id), before)
      assert.deepStrictEqual(yield* told(id), ["scheduling", "running"])
    }).pipe(Effect.provide(Core))
  )

  it.effect("of two workers at once is one's", () =>
    Effect.gen(function* () {
      const driver = yield* ComputeDriver
      const { endpoint, project } = yield* readyProject
      const others = yield* Effect.forEach(Array.from({ length: 10 }), () => anotherRunner)
      yield* head(project, endpoint, "active")
      const worked = yield* Effect.all(others, { concurrency: "unbounded" })
      assert.strictEqual(worked.filter(Boolean).length, 1)
      assert.strictEqual((yield* driver.running).length, 1)
    }).pipe(Effect.scoped, Effect.provide(Core))
  )
})
