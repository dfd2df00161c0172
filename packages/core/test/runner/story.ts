/** A project with a suspended endpoint, and what tests read of its operations. */
import { type Duration, Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import type { BranchId, EndpointId, OperationId } from "../../src/Ids.ts"
import type { OperationAction, StoredOperation } from "../../src/records/operations/Operation.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import type { Endpoint } from "../../src/records/projects/Endpoint.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import type { Project } from "../../src/records/projects/Project.ts"
import { changes } from "../../src/rules/authorization/Policy.ts"
import type { SessionCaller } from "../../src/rules/authorization/Principal.ts"
import { OperationRunner } from "../../src/runner/OperationRunner.ts"
import { bySystem, Operations } from "../../src/services/operations/Operations.ts"
import { Branches } from "../../src/services/projects/Branches.ts"
import { Endpoints } from "../../src/services/projects/Endpoints.ts"
import { Projects } from "../../src/services/projects/Projects.ts"
import { Transaction } from "../../src/Transaction.ts"
import { logged, settle, signedIn, turn } from "../memory/core.ts"

export const onBranch = changes("write", "change_projects", "branch")

export const aTeamsProject = Effect.gen(function* () {
  const projects = yield* Projects
  const ada = yield* signedIn("ada")
  return { ada, ...(yield* projects.create(ada, { name: "shop", region: null })) }
})

export const readyProject = Effect.tap(aTeamsProject, () => settle)

export const operation = (id: OperationId) =>
  Effect.flatMap(OperationStore, (store) => Effect.map(store.find(id), Option.getOrThrow))
export const endpointNow = (id: EndpointId) =>
  Effect.flatMap(EndpointStore, (store) => Effect.map(store.findAnywhere(id), Option.getOrThrow))
export const branchNow = (project: Project, id: BranchId) =>
  Effect.flatMap(BranchStore, (store) => Effect.map(store.find(project.id, id), Option.getOrThrow))
export const setDesiredState = (project: Project, { id }: Endpoint, state: "active" | "idle", by = bySystem) =>
  Effect.flatMap(Endpoints, (endpoints) => endpoints.setDesiredState(project, id, state, by))

/** A project whose endpoint runs. */
export const runningProject = Effect.gen(function* () {
  const made = yield* readyProject
  yield* setDesiredState(made.project, made.endpoint, "active")
  yield* settle
  return made
})

/** Schedules an operation on the branch. */
export const scheduled = (
  { branch, project }: Pick<Effect.Success<typeof readyProject>, "branch" | "project">,
  action: OperationAction
) =>
  Effect.gen(function* () {
    const { run } = yield* Transaction
    const { schedule } = yield* Operations
    return yield* run(schedule({ project, branch_id: branch.id, endpoint_id: null, action, initiator: bySystem }))
  })

export const runOne = Effect.flatMap(OperationRunner, (runner) => runner.runOne)

/** A call of the driver that neither ends nor can be interrupted. */
export const hangs = Effect.uninterruptible(Effect.never)

/** Lets time pass, step by step, until the fiber has ended. Fails when it has not ended after 200 steps. */
export const passing = <A, E>(fiber: Fiber.Fiber<A, E>, step: Duration.Input) =>
  Effect.gen(function* () {
    for (let steps = 0; steps < 200 && fiber.pollUnsafe() === undefined; steps++) {
      yield* TestClock.adjust(step)
      yield* turn
    }
    if (fiber.pollUnsafe() === undefined) return yield* Effect.die(new Error("The work has not ended."))
    return yield* Fiber.join(fiber)
  })

/** The statuses in the events of an operation, in order. */
export const statusesOf = (id: OperationId) =>
  Effect.map(logged, (events) =>
    events.filter(({ data }) => data["operation_id"] === id).map(({ data }) => String(data["status"]))
  )

export const only = (operations: ReadonlyArray<StoredOperation>) => {
  const [first, ...rest] = operations
  if (first === undefined || rest.length > 0) throw new Error(`Expected one operation, not ${operations.length}.`)
  return first
}

/** A ready child of main with an endpoint. */
export const readyChild = (ada: SessionCaller, project: Project) =>
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
