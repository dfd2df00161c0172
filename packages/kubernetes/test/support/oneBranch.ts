/** A branch that the tests of a file share: each starts it again, because a new branch costs more than the test. */
import { ComputeDriver } from "@narthex/core"
import { aBranchId, anEndpointId } from "@narthex/core/testing"
import { Effect, Option } from "effect"
import { type Minted, mint, sessionAt } from "./doubledComputes.ts"

export const oneBranch = () => {
  const [branch_id, endpoint_id] = [aBranchId(), anEndpointId()]
  let generation = 0
  let role: Minted | undefined
  /** The branch, which runs, with one role. */
  const running = Effect.gen(function* () {
    const driver = yield* ComputeDriver
    if (generation === 0) yield* driver.createBranch(branch_id, Option.none())
    role ??= yield* mint()
    generation++
    const start = { branch_id, endpoint_id, generation, roles: [role.minted] }
    const compute = yield* driver.start(start)
    const { minted, password } = role
    const open = (at = compute) => Effect.scoped(sessionAt(at, minted.role, password))
    return { cluster: `${branch_id}-1`, compute, driver, open, role, start }
  })
  return running
}
