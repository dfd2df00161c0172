/** Quotas where they are taken: in the transactions of creations, copies and starts. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Option, Result } from "effect"
import type { BranchId } from "../../src/Ids.ts"
import { ComputeDriver, ComputeFailed } from "../../src/records/computes/ComputeDriver.ts"
import { Initiator } from "../../src/records/operations/Operation.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import { defaultQuotas, type QuotaName, QuotaPolicy, type QuotaSettings } from "../../src/records/quotas/Quota.ts"
import { QuotaStore } from "../../src/records/quotas/QuotaStore.ts"
import { changes } from "../../src/rules/authorization/Policy.ts"
import type { SessionCaller } from "../../src/rules/authorization/Principal.ts"
import { DiskMeasurement } from "../../src/runner/DiskMeasurement.ts"
import { byProxy, bySystem } from "../../src/services/operations/Operations.ts"
import { Branches, type NewBranch } from "../../src/services/projects/Branches.ts"
import { Endpoints } from "../../src/services/projects/Endpoints.ts"
import { type CreatedProject, Projects } from "../../src/services/projects/Projects.ts"
import { ProxyRequests } from "../../src/services/proxy-requests/ProxyRequests.ts"
import { Quotas } from "../../src/services/quotas/Quotas.ts"
import { Transaction } from "../../src/Transaction.ts"
import { Core, settle, signedIn } from "../memory/core.ts"

const onBranch = changes("write", "change_projects", "branch")
const wanted: NewBranch = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: false }

/** Ada has a personal organization; there the numbers apply as they are. */
const withQuotas = (numbers: Partial<QuotaSettings>) =>
  Effect.provideService(QuotaPolicy, { ...defaultQuotas, personal_percent: 100, ...numbers })

const aProject = Effect.fnUntraced(function* (ada: SessionCaller) {
  const made = yield* (yield* Projects).create(ada, { name: "shop", region: null })
  yield* settle
  return made
})

const heldOf = Effect.fnUntraced(function* (ada: SessionCaller, quota: QuotaName) {
  const usage = yield* (yield* Quotas).usage({ id: ada.org_id, personal: true })
  return usage.find((it) => it.quota === quota)?.held
})

const refusal = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.result(effect), (it) =>
    Result.isSuccess(it)
      ? "made"
      : it.failure._tag === "QuotaExceeded" && "quota" in it.failure
        ? it.failure.quota
        : it.failure._tag
  )

const start = ({ endpoint, project }: CreatedProject) =>
  Endpoints.use((endpoints) => endpoints.setDesiredState(project, endpoint.id, "active", bySystem))

/** As a person asks for it: a suspend by the system is skipped while the compute is in use. */
const byAda = new Initiator({ type: "user", id: null, name: "ada@example.com" })

const suspend = ({ endpoint, project }: CreatedProject) =>
  Endpoints.use((endpoints) => endpoints.setDesiredState(project, endpoint.id, "idle", byAda))

describe("Quotas", () => {
  it.effect("a creation that fails after its place was taken leaves the place free", () =>
    Effect.gen(function* () {
      const quotas = yield* Quotas
      const projects = yield* Projects
      const { run } = yield* Transaction
      const ada = yield* signedIn("ada")
      const lost = run(
        Effect.andThen(projects.create(ada, { name: "lost", region: null }), Effect.fail("undone" as const))
      )
      assert.strictEqual(yield* Effect.flip(lost), "undone")
      assert.strictEqual(yield* heldOf(ada, "projects"), 0)
      yield* projects.create(ada, { name: "kept", region: null })
      const refused = yield* Effect.flip(run(quotas.take(ada.org_id, { projects: 1 })))
      assert.deepInclude(refused, { _tag: "QuotaExceeded", quota: "projects", held: 1, allowed: 1 })
    }).pipe(withQuotas({ projects: 1 }), Effect.provide(Core))
  )

  it.effect("a start beyond the quota of running computes is refused, and a suspended endpoint makes room", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      const [first, second] = [yield* aProject(ada), yield* aProject(ada)]
      yield* start(first)
      assert.strictEqual(yield* refusal(start(second)), "running_computes")
      yield* settle
      assert.strictEqual(yield* refusal(start(second)), "running_computes")
      yield* suspend(first)
      assert.strictEqual(yield* refusal(start(second)), "running_computes")
      yield* settle
      assert.strictEqual(yield* refusal(start(second)), "made")
    }).pipe(withQuotas({ running_computes: 1 }), Effect.provide(Core))
  )

  it.effect("an endpoint that runs or is to run starts again without another place", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      const first = yield* aProject(ada)
      yield* start(first)
      yield* start(first)
      yield* settle
      yield* suspend(first)
      yield* start(first)
      assert.strictEqual(yield* heldOf(ada, "running_computes"), 1)
      yield* settle
      yield* suspend(first)
      yield* settle
      assert.strictEqual(yield* heldOf(ada, "running_computes"), 0)
    }).pipe(withQuotas({ running_computes: 1 }), Effect.provide(Core))
  )

  it.effect("a start with a suspend behind it keeps its place until both are over", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      const [first, second] = [yield* aProject(ada), yield* aProject(ada)]
      yield* start(first)
      // A caller's suspend would cancel the start.
      yield* Endpoints.use((endpoints) => endpoints.setDesiredState(first.project, first.endpoint.id, "idle", byProxy))
      assert.strictEqual(yield* refusal(start(second)), "running_computes")
      yield* settle
      assert.strictEqual(yield* refusal(start(second)), "made")
    }).pipe(withQuotas({ running_computes: 1 }), Effect.provide(Core))
  )

  it.effect("a wake beyond the quota is refused and schedules nothing", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      const [first, second] = [yield* aProject(ada), yield* aProject(ada)]
      yield* start(first)
      yield* settle
      const woken = (yield* ProxyRequests).wake(second.endpoint.id, "198.51.100.7")
      assert.deepInclude(yield* Effect.flip(woken), {
        _tag: "QuotaExceeded",
        quota: "running_computes",
        held: 1,
        allowed: 1
      })
      assert.deepStrictEqual(yield* (yield* OperationStore).unfinished(second.branch.id), [])
    }).pipe(withQuotas({ running_computes: 1 }), Effect.provide(Core))
  )
})

/** Records these sizes as a measurement of the machine. */
const measured = (...sizes: ReadonlyArray<readonly [BranchId, number]>) =>
  Effect.gen(function* () {
    const driver = yield* ComputeDriver
    const sized = ComputeDriver.of({
      ...driver,
      diskUsage: Effect.succeed(sizes.map(([branch_id, bytes]) => ({ branch_id, bytes })))
    })
    const measurement = Layer.provide(Layer.fresh(DiskMeasurement.layer), Layer.succeed(ComputeDriver, sized))
    const { record } = Context.get(yield* Layer.build(measurement), DiskMeasurement)
    assert.strictEqual((yield* record).branches, sizes.length)
  }).pipe(Effect.scoped)

describe("the disk quota", () => {
  it.effect("a copy that does not fit is refused, and copies that are scheduled count before they are measured", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      const branches = yield* Branches
      const { branch, project } = yield* aProject(ada)
      yield* measured([branch.id, 400])
      const copy = branches.create(ada, project, wanted)
      assert.strictEqual(yield* refusal(copy), "made")
      assert.strictEqual(yield* heldOf(ada, "disk_bytes"), 800)
      const refused = yield* Effect.flip(copy)
      assert.deepInclude(refused, { _tag: "QuotaExceeded", quota: "disk_bytes", held: 800, allowed: 1000 })
    }).pipe(withQuotas({ disk_bytes: 1000 }), Effect.provide(Core))
  )

  it.effect("an organization over its disk quota creates no project and no branch until data is removed", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      const made = yield* aProject(ada)
      yield* measured([made.branch.id, 1000])
      assert.strictEqual(yield* refusal(aProject(ada)), "disk_bytes")
      assert.strictEqual(yield* refusal((yield* Branches).create(ada, made.project, wanted)), "disk_bytes")
      yield* measured([made.branch.id, 100])
      assert.strictEqual(yield* refusal(aProject(ada)), "made")
    }).pipe(withQuotas({ disk_bytes: 1000 }), Effect.provide(Core))
  )

  it.effect("a reset is refused if the parent's data would not fit, and allowed if it frees disk", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      const branches = yield* Branches
      const { branch: parent, project } = yield* aProject(ada)
      const { branch } = yield* branches.create(ada, project, wanted)
      yield* settle
      yield* measured([parent.id, 600], [branch.id, 200])
      assert.strictEqual(yield* refusal(branches.reset(ada, onBranch, branch)), "disk_bytes")
      const found = yield* (yield* BranchStore).find(project.id, branch.id)
      assert.strictEqual(Option.getOrThrow(found).current_state, "ready")
      yield* measured([parent.id, 300], [branch.id, 900])
      assert.strictEqual(yield* refusal(branches.reset(ada, onBranch, branch)), "made")
    }).pipe(withQuotas({ disk_bytes: 1000 }), Effect.provide(Core))
  )

  it.effect("a machine that cannot be measured leaves the last numbers in force", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      const made = yield* aProject(ada)
      yield* measured([made.branch.id, 700])
      const driver = yield* ComputeDriver
      const failing = ComputeDriver.of({
        ...driver,
        diskUsage: Effect.fail(new ComputeFailed({ reason: "The disk is away.", retryable: true }))
      })
      const broken = Layer.provide(Layer.fresh(DiskMeasurement.layer), Layer.succeed(ComputeDriver, failing))
      const { record } = Context.get(yield* Layer.build(broken), DiskMeasurement)
      assert.strictEqual((yield* Effect.flip(record))._tag, "ComputeFailed")
      assert.strictEqual(yield* heldOf(ada, "disk_bytes"), 700)
      assert.strictEqual(yield* (yield* QuotaStore).bytesOf(made.branch.id), 700)
    }).pipe(Effect.scoped, Effect.provide(Core))
  )
})
