import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Option, References } from "effect"
import { TestClock } from "effect/testing"
import { ComputeDriver, ComputeFailed } from "../../src/records/computes/ComputeDriver.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import type { Branch } from "../../src/records/projects/Branch.ts"
import type { BranchRole } from "../../src/records/projects/BranchRole.ts"
import { BranchRoleStore } from "../../src/records/projects/BranchRoleStore.ts"
import { Endpoint } from "../../src/records/projects/Endpoint.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import { defaultQuotas, QuotaPolicy } from "../../src/records/quotas/Quota.ts"
import { RoleReconciler } from "../../src/runner/RoleReconciler.ts"
import { bySystem, Operations } from "../../src/services/operations/Operations.ts"
import { Branches } from "../../src/services/projects/Branches.ts"
import { Credentials } from "../../src/services/projects/Credentials.ts"
import { Endpoints } from "../../src/services/projects/Endpoints.ts"
import { Projects } from "../../src/services/projects/Projects.ts"
import { Transaction } from "../../src/Transaction.ts"
import { aBranchRole } from "../../testing/records.ts"
import { Core, Machines, onEndpoint, settle, signedIn, tagOf, until } from "../memory/core.ts"

/** A project whose compute runs, with a role that was applied and expires after a minute. */
const running = Effect.gen(function* () {
  const ada = yield* signedIn("ada")
  const made = yield* (yield* Projects).create(ada, { name: "shop", region: null })
  yield* settle
  const { mint } = yield* Credentials
  const { credential } = yield* mint(ada, made.project, made.branch, "read_write", 60)
  yield* (yield* Endpoints).setDesiredState(made.project, made.endpoint.id, "active", bySystem)
  yield* settle
  return { ada, ...made, role: credential.role }
})

const find = (branch: Branch, role: string) =>
  Effect.flatMap(BranchRoleStore, (store) => Effect.map(store.find(branch.id, role), Option.getOrThrow))
const work = ({ id }: Branch) =>
  Effect.flatMap(OperationStore, (store) =>
    Effect.map(store.unfinished(id), (found) => found.map(({ action }) => action))
  )

describe("Ending roles", () => {
  it.effect("an expired role leaves the compute, by one operation, and its end is confirmed", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { endRoles } = yield* RoleReconciler
      const { branch, role } = yield* running
      assert.isNotNull((yield* find(branch, role)).applied_at)
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual(yield* endRoles, 0)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* endRoles, 1)
      assert.strictEqual(yield* endRoles, 0, "one unfinished operation is enough")
      assert.deepStrictEqual(yield* work(branch), ["apply_config"])
      yield* settle
      assert.deepStrictEqual(machines.roles.get(branch.id), [])
      assert.isNotNull((yield* find(branch, role)).removed_at)
      assert.strictEqual(yield* endRoles, 0)
    }).pipe(Effect.provide(Core))
  )

  it.effect("an operation that failed for good is scheduled again", () =>
    Effect.gen(function* () {
      const operations = yield* Operations
      const store = yield* OperationStore
      const { endRoles } = yield* RoleReconciler
      const { branch, role } = yield* running
      yield* TestClock.adjust("1 minute")
      yield* endRoles
      const [first] = yield* store.unfinished(branch.id)
      const { run } = yield* Transaction
      const begun = yield* run(operations.move(first ?? assert.fail("nothing scheduled"), "running"))
      yield* run(operations.move(begun, "failed", { error: "no" }))
      assert.isNull((yield* find(branch, role)).removed_at)
      assert.strictEqual(yield* endRoles, 1)
    }).pipe(Effect.provide(Core))
  )

  it.effect("a role that ends while its operation applies the roles is not confirmed by it", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const store = yield* BranchRoleStore
      const { endRoles } = yield* RoleReconciler
      const { branch, role } = yield* running
      yield* store.insert(aBranchRole(branch.id, { expires_at: yield* DateTime.now, project_id: branch.project_id }))
      assert.strictEqual(yield* endRoles, 1)
      machines.before = (call) =>
        call.startsWith("applyRoles")
          ? Effect.orDie(Effect.flatMap(DateTime.now, (now) => store.revoke({ branch_id: branch.id }, now)))
          : Effect.void
      yield* settle
      assert.isNull((yield* find(branch, role)).removed_at)
      assert.strictEqual(yield* endRoles, 1)
      machines.before = () => Effect.void
      yield* settle
      assert.isNotNull((yield* find(branch, role)).removed_at)
    }).pipe(Effect.provide(Core))
  )

  it.effect("the end of a role is confirmed without an operation where no compute runs", () =>
    Effect.gen(function* () {
      const { endRoles } = yield* RoleReconciler
      const ada = yield* signedIn("ada")
      const { branch, project } = yield* (yield* Projects).create(ada, { name: "shop", region: null })
      yield* settle
      const { mint } = yield* Credentials
      const { credential } = yield* mint(ada, project, branch, "read_write", 1)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* endRoles, 0)
      assert.isNotNull((yield* find(branch, credential.role)).removed_at)
    }).pipe(Effect.provide(Core))
  )

  it.effect("the end of a deleted branch's roles is confirmed once its deletion has stopped the compute", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const store = yield* BranchRoleStore
      const { endRoles } = yield* RoleReconciler
      const { ada, branch, project, role } = yield* running
      const stuck = new ComputeFailed({ reason: "The server does not stop.", retryable: true })
      machines.before = (call) => (call.startsWith("deleteBranch") ? Effect.fail(stuck) : Effect.void)
      yield* (yield* Projects).remove(ada, project)
      for (const settled of [Effect.void, settle]) {
        yield* settled
        assert.strictEqual(yield* endRoles, 0)
        assert.isNull((yield* find(branch, role)).removed_at, "the compute still runs")
      }
      machines.before = () => Effect.void
      yield* TestClock.adjust("1 minute")
      yield* settle
      assert.strictEqual(yield* endRoles, 0)
      assert.isNotNull((yield* find(branch, role)).removed_at)
      assert.deepStrictEqual(yield* store.present(branch.id), [])
    }).pipe(Effect.provide(Core), Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.effect("the end of a role is not confirmed while the compute of a deleted endpoint still runs", () =>
    Effect.gen(function* () {
      const { endRoles } = yield* RoleReconciler
      const { ada, branch, endpoint, project, role } = yield* running
      yield* (yield* Endpoints).remove(ada, onEndpoint, project, endpoint)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* endRoles, 0)
      assert.isNull((yield* find(branch, role)).removed_at)
      yield* settle
      yield* endRoles
      assert.isNotNull((yield* find(branch, role)).removed_at)
    }).pipe(Effect.provide(Core))
  )

  it.effect("branches whose operations are stuck do not keep another branch from its turn", () =>
    Effect.gen(function* () {
      const operations = yield* Operations
      const store = yield* BranchRoleStore
      const { endRoles } = yield* RoleReconciler
      const ada = yield* signedIn("ada")
      const { project } = yield* (yield* Projects).create(ada, { name: "stuck", region: null })
      const now = yield* DateTime.now
      const expired = (branch_id: Branch["id"]): BranchRole =>
        aBranchRole(branch_id, { project_id: project.id, expires_at: now })
      const wanted = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: false }
      for (let n = 0; n < 110; n++) {
        const { branch: stuck } = yield* (yield* Branches).create(ada, project, wanted)
        yield* store.insert(expired(stuck.id))
        const work = { project, branch_id: stuck.id, endpoint_id: null, initiator: bySystem }
        yield* (yield* Transaction).run(operations.schedule({ ...work, action: "apply_config" }))
      }
      // Later, so that the id of the next branch sorts behind the stuck ones.
      yield* TestClock.adjust("1 second")
      const ready = yield* (yield* Projects).create(ada, { name: "ready", region: null })
      const row = Option.getOrThrow(yield* (yield* EndpointStore).findAnywhere(ready.endpoint.id))
      yield* (yield* EndpointStore).put(new Endpoint({ ...row, current_state: "active" }))
      const { branch } = ready
      yield* store.insert(aBranchRole(branch.id, { project_id: branch.project_id, expires_at: now }))
      let scheduled = 0
      for (let round = 0; round < 3; round++) scheduled += yield* endRoles
      assert.strictEqual(scheduled, 1)
      assert.deepStrictEqual(yield* work(branch), ["create_timeline", "apply_config"])
    }).pipe(Effect.provide(Core), Effect.provideService(QuotaPolicy, { ...defaultQuotas, personal_percent: 100 }))
  )
})

describe("Comparing roles", () => {
  it.effect(
    "a role that only the compute or only the store has, or with another password, is corrected by one operation",
    () =>
      Effect.gen(function* () {
        const driver = yield* ComputeDriver
        const { compareRoles } = yield* RoleReconciler
        const { branch, role } = yield* running
        assert.strictEqual(yield* compareRoles, 0)
        const [own] = yield* (yield* BranchRoleStore).valid(branch.id, yield* DateTime.now)
        if (own === undefined) return assert.fail("no role")
        const strange = { ...own, role: "role_strange000000000", expires_at: Option.none() }
        const changed = { ...own, expires_at: Option.none(), verifier: strange.verifier.replace("4096", "1") }
        for (const there of [[], [{ ...own, expires_at: Option.none() }, strange], [changed]]) {
          yield* driver.applyRoles(branch.id, there)
          assert.strictEqual(yield* compareRoles, 1)
          assert.strictEqual(yield* compareRoles, 0, "while the operation is unfinished")
          yield* settle
          assert.deepStrictEqual((yield* Machines).roles.get(branch.id), [role])
          assert.strictEqual(yield* compareRoles, 0)
        }
      }).pipe(Effect.provide(Core))
  )

  it.effect("a compute that does not answer in three rounds has its roles applied", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { compareRoles } = yield* RoleReconciler
      const { branch } = yield* running
      const broken = new ComputeFailed({ reason: "No answer.", retryable: true })
      machines.before = (call) => (call.startsWith("needsRoles") ? Effect.fail(broken) : Effect.void)
      const rounds = () => Effect.all([compareRoles, compareRoles, compareRoles])
      assert.deepStrictEqual(yield* rounds(), [0, 0, 1])
      assert.deepStrictEqual(yield* work(branch), ["apply_config"])
      yield* settle
      // An answer in between begins the count again.
      assert.deepStrictEqual(yield* Effect.all([compareRoles, compareRoles]), [0, 0])
      machines.before = () => Effect.void
      assert.strictEqual(yield* compareRoles, 0)
      machines.before = (call) => (call.startsWith("needsRoles") ? Effect.never : Effect.void)
      const asked = yield* Effect.forkChild(rounds(), { startImmediately: true })
      yield* TestClock.adjust("15 seconds")
      assert.deepStrictEqual(yield* Fiber.join(asked), [0, 0, 1])
    }).pipe(Effect.provide(Core))
  )
})

describe("Revoking a credential", () => {
  const revoking = Effect.fnUntraced(function* ({ ada, branch, project, role }: Effect.Success<typeof running>) {
    return yield* (yield* Credentials).revoke(ada, project, yield* find(branch, role))
  })

  it.effect(
    "a revocation returns once the compute has confirmed it, and the credential is not found from then on",
    () =>
      Effect.gen(function* () {
        const machines = yield* Machines
        const at = yield* running
        const waiting = yield* Effect.forkChild(revoking(at))
        yield* until(Effect.map(work(at.branch), (found) => found.length === 1))
        assert.isUndefined(waiting.pollUnsafe())
        yield* settle
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(waiting)
        assert.deepStrictEqual(machines.roles.get(at.branch.id), [])
        assert.strictEqual(yield* tagOf(revoking(at)), "NotFound")
      }).pipe(Effect.provide(Core))
  )

  it.effect("a revocation that is not confirmed in time says so, and a repeated one waits for the same operation", () =>
    Effect.gen(function* () {
      const at = yield* running
      const waiting = yield* Effect.forkChild(tagOf(revoking(at)))
      yield* until(Effect.map(work(at.branch), (found) => found.length === 1))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* Fiber.join(waiting), "NotApplied")
      assert.strictEqual((yield* find(at.branch, at.role)).viewAt(yield* DateTime.now).state, "ending")
      const again = yield* Effect.forkChild(tagOf(revoking(at)))
      yield* until(
        Effect.andThen(
          TestClock.adjust("10 seconds"),
          Effect.sync(() => again.pollUnsafe() !== undefined)
        )
      )
      assert.strictEqual(yield* Fiber.join(again), "NotApplied")
      assert.deepStrictEqual(yield* work(at.branch), ["apply_config"])
      yield* settle
      assert.isNotNull((yield* find(at.branch, at.role)).removed_at)
    }).pipe(Effect.provide(Core))
  )

  it.effect("a revocation on a suspended branch returns at once", () =>
    Effect.gen(function* () {
      const { list, mint, revoke } = yield* Credentials
      const ada = yield* signedIn("ada")
      const { branch, project } = yield* (yield* Projects).create(ada, { name: "shop", region: null })
      yield* settle
      const { credential } = yield* mint(ada, project, branch, "read_write", null)
      assert.strictEqual(credential.state, "pending")
      yield* revoke(ada, project, yield* find(branch, credential.role))
      assert.strictEqual(yield* settle, 0)
      yield* (yield* RoleReconciler).endRoles
      assert.deepStrictEqual((yield* list(ada, branch, { limit: 10, after: null })).items, [])
    }).pipe(Effect.provide(Core))
  )
})
