/** A branch that the tests of a file share: each starts it again, because a new branch costs more than the test. */
import { ComputeDriver, type ComputeRole } from "@narthex/core"
import { aBranchId, anEndpointId } from "@narthex/core/testing"
import { Effect, Option } from "effect"
import { type Minted, mint, sessionAt } from "./doubledComputes.ts"

/** The branch, which runs, with one role. Each run of the effect starts it in the next generation. */
export const oneBranch = (access: ComputeRole["access"]) => {
  const [branch_id, endpoint_id] = [aBranchId(), anEndpointId()]
  let generation = 0
  let known: Minted | undefined
  return Effect.gen(function* () {
    const driver = yield* ComputeDriver
    if (generation === 0) yield* driver.createBranch(branch_id, Option.none())
    const role = known ?? (yield* mint(access))
    known = role
    generation++
    const start = { branch_id, endpoint_id, generation, roles: [role.minted] }
    const compute = yield* driver.start(start)
    const open = (at = compute) => Effect.scoped(sessionAt(at, role.minted.role, role.password))
    return { cluster: `${branch_id}-1`, compute, driver, open, role, start }
  })
}
