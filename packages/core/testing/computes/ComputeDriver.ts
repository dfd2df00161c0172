/** The contract of `ComputeDriver`. Run it against every adapter that makes data and roles. */
import { Effect, Option } from "effect"
import type { BranchId } from "../../src/Ids.ts"
import { ComputeDriver, type ComputeRole } from "../../src/records/computes/ComputeDriver.ts"
import { ComputeFence } from "../../src/records/computes/ComputeFence.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aBranchId, anEndpointId } from "../records.ts"
import { largeSize } from "../sizes.ts"

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

/** Which of these lists a compute of the branch does not have. */
const lacking = Effect.fnUntraced(function* (branch: BranchId, ...lists: ReadonlyArray<ReadonlyArray<string>>) {
  const { needsRoles } = yield* ComputeDriver
  const needs = yield* Effect.forEach(lists, (roles) => needsRoles(branch, roles.map(aRole)))
  return needs.flatMap((needed, at) => (needed ? [at] : []))
})

export const computeDriverContract = contract<ComputeDriver>("ComputeDriver", (it) => {
  it("a branch needs its roles applied unless the list is the one that was applied last, in any order", () =>
    Effect.gen(function* () {
      const driver = yield* ComputeDriver
      const { branch_id } = yield* started("b", "a")
      assert.deepStrictEqual(yield* lacking(branch_id, ["a", "b"], ["b", "a"], ["a"], ["a", "b", "c"]), [2, 3])
      yield* driver.applyRoles(branch_id, [aRole("c"), aRole("B"), aRole("a")])
      assert.deepStrictEqual(yield* lacking(branch_id, ["a", "B", "c"], ["a", "b", "c"]), [1])
      yield* driver.applyRoles(branch_id, [])
      assert.deepStrictEqual(yield* lacking(branch_id, [], ["a"]), [1])
    }))

  it("a branch that does not run needs no roles applied, and a start applies its own list", () =>
    Effect.gen(function* () {
      const driver = yield* ComputeDriver
      assert.deepStrictEqual(yield* lacking(aBranchId(), ["a"]), [])
      const start = yield* started("former")
      yield* driver.stop(start.endpoint_id)
      yield* driver.applyRoles(start.branch_id, [aRole("lost")])
      assert.deepStrictEqual(yield* lacking(start.branch_id, ["former"], ["lost"]), [])
      yield* driver.start({ ...start, generation: 2, roles: [aRole("next")] })
      assert.deepStrictEqual(yield* lacking(start.branch_id, ["next"], ["lost"]), [1])
    }))

  it("a start of a later generation, with another size, replaces the compute of the endpoint", () =>
    Effect.gen(function* () {
      const driver = yield* ComputeDriver
      const start = yield* started("kept")
      const again = yield* driver.start({ ...start, generation: 2, size: largeSize })
      const own = (yield* driver.running).filter(({ endpoint_id }) => endpoint_id === start.endpoint_id)
      assert.deepStrictEqual(
        own.map(({ address, generation }) => [address, generation]),
        [[again.address, 2]]
      )
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
      assert.deepStrictEqual(yield* lacking(branch_id, ["kept"], ["late"]), [1])
      yield* driver.applyRoles(branch_id, [aRole("unfenced")])
      yield* fenced(9)(driver.stop(endpoint_id))
      yield* fenced(1)(driver.createBranch(aBranchId(), Option.none()))
    }))
})
