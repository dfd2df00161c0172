import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option } from "effect"
import { ResourceBusy } from "../../src/Refusals.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import type { Branch } from "../../src/records/projects/Branch.ts"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import type { Project } from "../../src/records/projects/Project.ts"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import { changes } from "../../src/rules/authorization/Policy.ts"
import type { AnyCaller } from "../../src/rules/authorization/Principal.ts"
import { OperationRunner } from "../../src/runner/OperationRunner.ts"
import { initiatorOf } from "../../src/services/operations/Operations.ts"
import { Branches, type NewBranch } from "../../src/services/projects/Branches.ts"
import { Endpoints } from "../../src/services/projects/Endpoints.ts"
import { Projects } from "../../src/services/projects/Projects.ts"
import { Core, keyCallerOf, logged, Machines, region, settle, signedIn, tagOf, until } from "../memory/core.ts"

const onBranch = changes("write", "change_projects", "branch")
const byAgents = { ...onBranch, agent: "made_by_agent" as const }
const plain: NewBranch = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: false }

const setting = Effect.gen(function* () {
  const projects = yield* Projects
  const ada = yield* signedIn("ada")
  const { branch: main, endpoint, project } = yield* projects.create(ada, { name: "shop", region: null })
  yield* settle
  return { ada, project, main, endpoint }
})

const child = (caller: AnyCaller, project: Project, rest: Partial<NewBranch> = {}) =>
  Effect.gen(function* () {
    const branches = yield* Branches
    const { branch } = yield* branches.create(caller, project, { ...plain, ...rest })
    yield* settle
    return branch
  })
const now = (project: Project, { id }: Branch) =>
  Effect.flatMap(BranchStore, (store) => Effect.map(store.find(project.id, id), Option.getOrThrow))

describe("A new branch", () => {
  it.effect(
    "a new branch is a copy of the default branch, with a generated name and no endpoint, unless requested otherwise",
    () =>
      Effect.gen(function* () {
        const branches = yield* Branches
        const { ada, main, project } = yield* setting
        const { branch, endpoint } = yield* branches.create(ada, project, plain)
        assert.deepInclude(
          { ...branch },
          { parent_id: main.id, region_id: region, default: false, protected: false, made_by_agent: false }
        )
        assert.match(branch.name, /^[A-Za-z][A-Za-z0-9_./-]*$/)
        assert.isNull(endpoint)
        const other = yield* branches.create(ada, project, {
          ...plain,
          parent_id: branch.id,
          endpoint: true,
          name: "other"
        })
        assert.strictEqual(other.branch.parent_id, branch.id)
        assert.deepInclude(
          { ...other.endpoint },
          { type: "read_write", current_state: "init", branch_id: other.branch.id }
        )
      }).pipe(Effect.provide(Core))
  )

  it.effect("branch names are unique in a project, also when branches are created at once", () =>
    Effect.gen(function* () {
      const branches = yield* Branches
      const { ada, project } = yield* setting
      const tries = yield* Effect.forEach(
        Array.from({ length: 20 }),
        () => Effect.exit(branches.create(ada, project, { ...plain, name: "same" })),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(tries.filter(({ _tag }) => _tag === "Success").length, 1)
      assert.strictEqual(yield* tagOf(branches.create(ada, project, { ...plain, name: "main" })), "Conflict")
    }).pipe(Effect.provide(Core))
  )

  it.effect("foreign, unknown and malformed parents get the same refusal", () =>
    Effect.gen(function* () {
      const branches = yield* Branches
      const projects = yield* Projects
      const { ada, project } = yield* setting
      const foreign = yield* projects.create(ada, { name: "other", region: null })
      const answers = yield* Effect.forEach([foreign.branch.id, "br-nope", "..."], (parent_id) =>
        Effect.flip(branches.create(ada, project, { ...plain, parent_id }))
      )
      for (const answer of answers) assert.deepStrictEqual(answer, answers[0])
      assert.strictEqual(answers[0]?._tag, "InvalidMember")
    }).pipe(Effect.provide(Core))
  )

  it.effect("a protected branch cannot expire", () =>
    Effect.gen(function* () {
      const branches = yield* Branches
      const { ada, project } = yield* setting
      const both = branches.create(ada, project, { ...plain, protected: true, ttl_seconds: 60 })
      assert.strictEqual(yield* tagOf(both), "Conflict")
    }).pipe(Effect.provide(Core))
  )
})

describe("Changing a branch", () => {
  it.effect("a branch can be renamed, protected, and given and relieved of an expiry", () =>
    Effect.gen(function* () {
      const branches = yield* Branches
      const { ada, main, project } = yield* setting
      const branch = yield* child(ada, project)
      const changed = yield* branches.change(ada, onBranch, branch, { name: " new ", ttl_seconds: 60 })
      assert.deepInclude({ ...changed }, { name: "new" })
      assert.strictEqual(changed.expires_at?.epochMilliseconds, 60_000)
      assert.strictEqual(yield* tagOf(branches.change(ada, onBranch, branch, { protected: true })), "Conflict")
      const kept = yield* branches.change(ada, onBranch, branch, { ttl_seconds: null, protected: true })
      assert.deepInclude({ ...kept }, { expires_at: null, protected: true, name: "new" })
      assert.strictEqual(yield* tagOf(branches.change(ada, onBranch, branch, { name: "main" })), "Conflict")
      assert.strictEqual(yield* tagOf(branches.change(ada, onBranch, main, { ttl_seconds: 60 })), "Conflict")
    }).pipe(Effect.provide(Core))
  )

  it.effect("an agent's change is decided again under the lock, because the branch may have become main", () =>
    Effect.gen(function* () {
      const branches = yield* Branches
      const { ada, project } = yield* setting
      const agent = yield* keyCallerOf(ada, "agent")
      const [made, other] = [yield* child(agent, project), yield* child(ada, project)]
      assert.strictEqual((yield* branches.change(agent, byAgents, made, { name: "mine" })).name, "mine")
      assert.strictEqual(yield* tagOf(branches.change(agent, byAgents, other, { name: "mine-too" })), "Refused")
      yield* branches.setDefault(ada, made)
      yield* settle
      for (const attempt of [
        branches.change(agent, byAgents, made, { name: "mine-again" }),
        branches.reset(agent, byAgents, made),
        branches.remove(agent, byAgents, made),
        branches.setDefault(agent, other)
      ])
        assert.strictEqual(yield* tagOf<unknown, { _tag: string }, never>(attempt), "Refused")
    }).pipe(Effect.provide(Core))
  )
})

describe("The default branch", () => {
  it.effect("a project has exactly one default branch", () =>
    Effect.gen(function* () {
      const branches = yield* Branches
      const projects = yield* ProjectStore
      const { ada, main, project } = yield* setting
      const branch = yield* child(ada, project)
      const { branch: made, operations } = yield* branches.setDefault(ada, branch)
      assert.isTrue(made.default)
      assert.deepStrictEqual(operations, [])
      assert.isFalse((yield* now(project, main)).default)
      assert.strictEqual(Option.getOrThrow(yield* projects.findAnywhere(project.id)).default_branch_id, branch.id)
      assert.deepStrictEqual((yield* branches.setDefault(ada, made)).operations, [], "already so")
      const [a, b] = [yield* child(ada, project), yield* child(ada, project)]
      yield* Effect.all([branches.setDefault(ada, a), branches.setDefault(ada, b)], { concurrency: "unbounded" })
      const store = yield* BranchStore
      const { items } = yield* store.list(project.id, null, { limit: 10, after: null })
      assert.strictEqual(items.filter((it) => it.default).length, 1)
    }).pipe(Effect.provide(Core))
  )
})

describe("Refusals", () => {
  it.effect("the default branch, a protected branch and one with children cannot be deleted", () =>
    Effect.gen(function* () {
      const branches = yield* Branches
      const { ada, main, project } = yield* setting
      const parent = yield* child(ada, project)
      const leaf = yield* child(ada, project, { parent_id: parent.id })
      yield* branches.change(ada, onBranch, leaf, { protected: true })
      for (const branch of [main, parent, leaf])
        assert.strictEqual(yield* tagOf(branches.remove(ada, onBranch, branch)), "Conflict")
      yield* branches.change(ada, onBranch, leaf, { protected: false })
      yield* branches.remove(ada, onBranch, leaf)
      yield* branches.remove(ada, onBranch, parent)
      assert.strictEqual(yield* tagOf(branches.remove(ada, onBranch, parent)), "NotFound")
    }).pipe(Effect.provide(Core))
  )

  it.effect("a branch without a parent, a protected one and the default branch cannot be reset", () =>
    Effect.gen(function* () {
      const branches = yield* Branches
      const { ada, main, project } = yield* setting
      const branch = yield* child(ada, project)
      yield* branches.change(ada, onBranch, branch, { protected: true })
      for (const it of [main, branch]) assert.strictEqual(yield* tagOf(branches.reset(ada, onBranch, it)), "Conflict")
      yield* branches.change(ada, onBranch, branch, { protected: false })
      yield* branches.setDefault(ada, branch)
      yield* settle
      assert.strictEqual(yield* tagOf(branches.reset(ada, onBranch, branch)), "Conflict", "the default, with a parent")
    }).pipe(Effect.provide(Core))
  )

  it.effect(
    "a branch with an unfinished operation refuses reset, deletion and becoming the default, but not a new name",
    () =>
      Effect.gen(function* () {
        const machines = yield* Machines
        const branches = yield* Branches
        const { runOne } = yield* OperationRunner
        const { ada, project } = yield* setting
        const branch = yield* child(ada, project)
        const gate = yield* Deferred.make<void>()
        machines.before = () => Deferred.await(gate)
        const { branch: resetting, operations } = yield* branches.reset(ada, onBranch, branch)
        assert.deepInclude({ ...resetting }, { current_state: "resetting", pending_state: "ready" })
        const held = yield* Effect.forkChild(runOne)
        yield* until(Effect.sync(() => machines.calls.includes(`resetBranch ${branch.id}`)))
        for (const attempt of [
          branches.reset(ada, onBranch, branch),
          branches.remove(ada, onBranch, branch),
          branches.setDefault(ada, branch)
        ]) {
          const busy = yield* Effect.flip<unknown, unknown, never>(attempt)
          assert.instanceOf(busy, ResourceBusy)
          assert.strictEqual(busy.blocking_operation_id, operations[0]?.id)
        }
        yield* branches.change(ada, onBranch, branch, { name: "renamed" })
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(held)
        assert.deepInclude(
          { ...(yield* now(project, branch)) },
          { current_state: "ready", pending_state: null, name: "renamed" }
        )
        yield* branches.remove(ada, onBranch, branch)
      }).pipe(Effect.provide(Core))
  )
})

describe("Resetting a branch", () => {
  it.effect("a reset suspends the endpoints, and a start during it runs after it", () =>
    Effect.gen(function* () {
      const branches = yield* Branches
      const endpoints = yield* Endpoints
      const store = yield* EndpointStore
      const { ada, project } = yield* setting
      const made = yield* branches.create(ada, project, { ...plain, endpoint: true })
      if (made.endpoint === null) throw new Error("no endpoint")
      const id = made.endpoint.id
      const start = endpoints.setDesiredState(project, id, "active", initiatorOf(ada))
      yield* start
      yield* settle
      yield* branches.reset(ada, onBranch, made.branch)
      yield* settle
      const endpoint = Effect.map(store.findAnywhere(id), Option.getOrThrow)
      assert.deepInclude({ ...(yield* endpoint) }, { current_state: "idle", pending_state: null, address: null })

      yield* start
      yield* settle
      const { operations } = yield* branches.reset(ada, onBranch, made.branch)
      const suspending = yield* endpoints.setDesiredState(project, id, "idle", initiatorOf(ada))
      assert.deepStrictEqual(
        suspending.operations.map((it) => it.id),
        operations.map((it) => it.id),
        "the reset does it"
      )
      assert.strictEqual((yield* start).operations[0]?.action, "start_compute")
      yield* settle
      assert.deepInclude({ ...(yield* endpoint) }, { current_state: "active", pending_state: null, generation: 3 })
    }).pipe(Effect.provide(Core))
  )
})

describe("Deleting a branch", () => {
  it.effect("deleting a branch deletes its endpoints, then revokes its keys and ends its streams", () =>
    Effect.gen(function* () {
      const branches = yield* Branches
      const endpoints = yield* EndpointStore
      const operations = yield* OperationStore
      const { ada, project } = yield* setting
      const made = yield* branches.create(ada, project, { ...plain, endpoint: true })
      yield* settle
      const key = yield* keyCallerOf(ada, "read", { type: "branch", branch_id: made.branch.id })
      const [scheduled] = yield* branches.remove(ada, onBranch, made.branch)
      assert.deepStrictEqual(yield* endpoints.ofBranch(made.branch.id), [])
      const events = yield* logged
      const deletion = events.findIndex(({ data }) => data["operation_id"] === scheduled?.id)
      const ofKey = events.findIndex(({ data, internal }) => internal && data["api_key_id"] === key.api_key_id)
      const ofBranch = events.findIndex(({ data, internal }) => internal && data["branch_id"] === made.branch.id)
      assert.isAtLeast(deletion, 0)
      assert.isAbove(ofKey, deletion, "a stream of the key gets the event before it ends")
      assert.isAbove(ofBranch, deletion)
      yield* settle
      const { items } = yield* operations.list(project.id, { branch_id: made.branch.id }, { limit: 10, after: null })
      assert.isTrue(items.some(({ action, status }) => action === "delete_timeline" && status === "finished"))
    }).pipe(Effect.provide(Core))
  )
})
