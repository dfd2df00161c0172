/** Computes and the platform share a machine's CPU. */
import { constants, getPriority } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { BranchId, ComputeDriver, EndpointId } from "@narthex/core"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Effect, Option } from "effect"
import { clusterAt } from "../src/cluster/Cluster.ts"
import { processesOf } from "../src/machine/Processes.ts"
import { dataDirectory, kinds } from "./support.ts"

const branch_id = BranchId.make("br-main")
const endpoint_id = EndpointId.make("ep-main")

/** Empty if the process has ended since it was listed, as the sessions of the supervisor do. */
const priorityOf = (pid: number): ReadonlyArray<number> => {
  try {
    return [getPriority(pid)]
  } catch {
    return []
  }
}

describe("the priority of computes", () => {
  it.live("every process of a compute yields the CPU to the supervisor", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataDirectory(0)
      const work = Effect.gen(function* () {
        const driver = yield* ComputeDriver
        yield* driver.createBranch(branch_id, Option.none())
        yield* driver.start({ branch_id, endpoint_id, generation: 1, roles: [] })
        const { name } = clusterAt(join(dataDir, "computes", "branches", branch_id), "compute")
        const priorities = (yield* processesOf(name)).flatMap(priorityOf)
        assert.isAbove(priorities.length, 1)
        const lower = Math.min(constants.priority.PRIORITY_LOW, getPriority() + 10)
        assert.deepStrictEqual(new Set(priorities), new Set([lower]))
      })
      yield* Effect.provide(work, LocalComputeDriver.layer({ dataDir, binaries: kinds[0].choice }))
    })
  )
})
