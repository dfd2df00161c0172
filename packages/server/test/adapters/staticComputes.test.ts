/** Static computes: a branch keeps its server permanently, and no other branch gets it. */
import { assert, layer } from "@effect/vitest"
import { type BranchId, ComputeDriver, type Endpoint, EndpointStore } from "@narthex/core"
import { aBranchId, anEndpoint, aProjectId } from "@narthex/core/testing"
import { Database, PostgresStorage } from "@narthex/postgres"
import { Context, Effect, Layer, Option, References, type Scope } from "effect"
import { testDatabase } from "../../../postgres/test/support/TestDatabase.ts"
import { layerStaticComputes } from "../../src/adapters/staticComputes.ts"

const storage = PostgresStorage.layer.pipe(Layer.provideMerge(testDatabase))
const one = "db-one.internal:5432"
const two = "db-two.internal:5432"
const three = "/run/db-three/.s.PGSQL.5432"

/** The driver of an instance that starts now, with this list of servers. */
const instance = (...addresses: ReadonlyArray<string>) =>
  Effect.map(Layer.build(layerStaticComputes(addresses)), (context) => Context.get(context, ComputeDriver))

const starting = (branch_id: BranchId, generation = 1) => {
  const { id: endpoint_id } = anEndpoint(aProjectId(), branch_id)
  return { endpoint_id, branch_id, generation, roles: [] }
}

const addressOf = (driver: ComputeDriver["Service"], branch: BranchId) =>
  Effect.map(driver.start(starting(branch)), ({ address }) => address)

const refusal = (driver: ComputeDriver["Service"], branch: BranchId) => Effect.flip(driver.start(starting(branch)))

/** Deletes all assignments, so that no server is assigned when a test begins. */
const noAssignments = Effect.flatMap(Database, ({ query }) => query("test", "drop table if exists static_compute"))

layer(storage, { excludeTestServices: true })("static computes", (it) => {
  const test = (sentence: string, body: () => Effect.Effect<void, unknown, Database | EndpointStore | Scope.Scope>) =>
    it.effect(sentence, () =>
      Effect.andThen(noAssignments, Effect.scoped(Effect.suspend(body))).pipe(
        Effect.provideService(References.MinimumLogLevel, "None")
      )
    )

  test("static computes assign each branch its own address, in the order of the list", () =>
    Effect.gen(function* () {
      const [a, b] = [aBranchId(), aBranchId()]
      const driver = yield* instance(one, two, three)
      assert.deepStrictEqual([yield* addressOf(driver, a), yield* addressOf(driver, b)], [one, two])
      assert.deepStrictEqual([yield* addressOf(driver, a), yield* addressOf(driver, b)], [one, two])
    }))

  test("a branch keeps its static address over a restart, in any order of starts", () =>
    Effect.gen(function* () {
      const [a, b] = [aBranchId(), aBranchId()]
      const before = yield* instance(one, two)
      assert.deepStrictEqual([yield* addressOf(before, a), yield* addressOf(before, b)], [one, two])
      const after = yield* instance(one, two)
      assert.deepStrictEqual([yield* addressOf(after, b), yield* addressOf(after, a)], [two, one])
    }))

  test("a branch keeps its static address when the list is reordered", () =>
    Effect.gen(function* () {
      const a = aBranchId()
      yield* addressOf(yield* instance(one, two), a)
      assert.strictEqual(yield* addressOf(yield* instance(three, two, one), a), one)
    }))

  test("instances that start at once agree on the static address of each branch", () =>
    Effect.gen(function* () {
      const branches = [aBranchId(), aBranchId(), aBranchId()]
      const drivers = yield* Effect.all([instance(one, two, three), instance(one, two, three)], {
        concurrency: "unbounded"
      })
      const [here, there] = yield* Effect.forEach(
        drivers,
        (driver, at) =>
          Effect.forEach(
            // The instances come upon the branches in opposite orders.
            at === 0 ? branches : branches.toReversed(),
            (branch) => addressOf(driver, branch),
            { concurrency: "unbounded" }
          ),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(here, there?.toReversed())
      assert.sameMembers(here ?? [], [one, two, three])
    }))

  test("the static address of a deleted branch is not assigned again", () =>
    Effect.gen(function* () {
      const [a, b] = [aBranchId(), aBranchId()]
      const driver = yield* instance(one)
      assert.strictEqual(yield* addressOf(driver, a), one)
      yield* driver.deleteBranch(a)
      for (const it of [driver, yield* instance(one)]) {
        const { message, retryable } = yield* refusal(it, b)
        assert.isFalse(retryable)
        assert.strictEqual(message, "Every address of NARTHEX_STATIC_ENDPOINTS is assigned to a branch.")
      }
    }))

  test("a branch whose static address left the list is refused", () =>
    Effect.gen(function* () {
      const a = aBranchId()
      yield* addressOf(yield* instance(one, two), a)
      const { message, retryable } = yield* refusal(yield* instance(two, three), a)
      assert.isFalse(retryable)
      assert.include(message, one)
    }))

  test("the running static computes are the recorded ones whose address is in the list, on every instance", () =>
    Effect.gen(function* () {
      const store = yield* EndpointStore
      const asleep = anEndpoint(aProjectId(), aBranchId())
      const awake: Endpoint = anEndpoint(aProjectId(), aBranchId(), {
        current_state: "active",
        address: one,
        generation: 3
      })
      yield* store.put(asleep)
      yield* store.put(awake)
      const compute = { endpoint_id: awake.id, branch_id: awake.branch_id, generation: 3, address: one }
      assert.deepStrictEqual(yield* (yield* instance(one, two)).running, [compute])
      assert.deepStrictEqual(yield* (yield* instance(two)).running, [])
    }))

  test("static computes refuse copies, resets and roles", () =>
    Effect.gen(function* () {
      const [a, b] = [aBranchId(), aBranchId()]
      const driver = yield* instance(one)
      yield* driver.createBranch(a, Option.none())
      const refused = [driver.createBranch(b, Option.some(a)), driver.resetBranch(b, a), driver.applyRoles(a, [])]
      for (const call of refused) assert.isFalse((yield* Effect.flip(call)).retryable)
    }))
})
