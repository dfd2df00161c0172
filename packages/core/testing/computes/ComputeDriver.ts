/** The contract of `ComputeDriver`. Run it against every adapter that makes data and roles. */
import { Effect, Option } from "effect"
import { ComputeDriver, type ComputeRole } from "../../src/computes/ComputeDriver.ts"
import { ComputeFence } from "../../src/computes/ComputeFence.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aBranchId, anEndpointId } from "../records.ts"

/** A role whose password is not known: its verifier has the form that a driver requires. */
const aRole = (role: string): ComputeRole => ({
  role,
  access: "read_only",
  verifier: `SCRAM-SHA-256$4096:${btoa("salt")}$${btoa("x".repeat(32))}:${btoa("y".repeat(32))}`,
  expires_at: Option.none()
})

/** Starts an endpoint of a new branch with the given roles. */
const started = Effect.fnUntraced(function* (...roles: ReadonlyArray<string>) {
  const driver = yield* ComputeDriver
  const start = { branch_id: aBranchId(), endpoint_id: anEndpointId(), generation: 1, roles: roles.map(aRole) }
  yield* driver.createBranch(start.branch_id, Option.none())
  yield* driver.start(start)
  return start
})

export const computeDriverContract = contract<ComputeDriver>("ComputeDriver", (it) => {
  it("the roles of a branch are those that were applied last, sorted by name", () =>
    Effect.gen(function* () {
      const driver = yield* ComputeDriver
      const { branch_id } = yield* started("b", "a")
      assert.deepStrictEqual(yield* driver.rolesOf(branch_id), Option.some(["a", "b"]))
      yield* driver.applyRoles(branch_id, [aRole("c"), aRole("B"), aRole("a")])
      assert.deepStrictEqual(yield* driver.rolesOf(branch_id), Option.some(["B", "a", "c"]))
      yield* driver.applyRoles(branch_id, [])
      assert.deepStrictEqual(yield* driver.rolesOf(branch_id), Option.some([]))
    }))

  it("the roles of a branch that does not run are unknown, and a start applies its own list", () =>
    Effect.gen(function* () {
      const driver = yield* ComputeDriver
      assert.deepStrictEqual(yield* driver.rolesOf(aBranchId()), Option.none())
      const start = yield* started("former")
      yield* driver.stop(start.endpoint_id)
      assert.deepStrictEqual(yield* driver.rolesOf(start.branch_id), Option.none())
      yield* driver.applyRoles(start.branch_id, [aRole("lost")])
      assert.deepStrictEqual(yield* driver.rolesOf(start.branch_id), Option.none())
      yield* driver.start({ ...start, generation: 2, roles: [aRole("next")] })
      assert.deepStrictEqual(yield* driver.rolesOf(start.branch_id), Option.some(["next"]))
    }))

  it("a call with a lower fence than one before it changes nothing of its branch, and is to be repeated", () =>
    Effect.gen(function* () {
      const driver = yield* ComputeDriver
      const start = yield* started("kept")
      const { branch_id, endpoint_id } = start
      const fenced = (fence: number) => Effect.provideService(ComputeFence, fence)
      yield* fenced(8)(driver.applyRoles(branch_id, [aRole("kept")]))
      yield* fenced(8)(driver.applyRoles(branch_id, [aRole("kept")]))
      for (const late of [
        driver.createBranch(branch_id, Option.none()),
        driver.applyRoles(branch_id, [aRole("late")]),
        driver.start({ ...start, generation: 2 }),
        driver.stop(endpoint_id),
        driver.deleteBranch(branch_id)
      ]) {
        const failure = yield* Effect.flip(fenced(7)(late))
        assert.deepStrictEqual([failure.retryable, failure.busy], [true, true])
      }
      assert.deepStrictEqual(yield* driver.rolesOf(branch_id), Option.some(["kept"]))
      yield* driver.applyRoles(branch_id, [aRole("unfenced")])
      yield* fenced(9)(driver.stop(endpoint_id))
      yield* fenced(1)(driver.createBranch(aBranchId(), Option.none()))
    }))
})
