/** Computes and the platform share a machine's CPU. */
import { readFileSync, realpathSync } from "node:fs"
import { constants, getPriority } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { BranchId, ComputeDriver, EndpointId } from "@narthex/core"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Effect, Option } from "effect"
import { clusterAt } from "../src/cluster/Cluster.ts"
import { findPostmaster } from "../src/cluster/PostgresProcess.ts"
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

/** Among which processes the kernel chooses first when it has no memory left; empty if the process has ended. */
const memoryScoreOf = (pid: number): ReadonlyArray<number> => {
  try {
    return [Number(readFileSync(`/proc/${pid}/oom_score_adj`, "utf8"))]
  } catch {
    return []
  }
}

describe("the priority of computes", () => {
  it.live("every process of a compute yields the CPU to the supervisor, and ends before it when memory is short", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataDirectory(0)
      const work = Effect.gen(function* () {
        const driver = yield* ComputeDriver
        yield* driver.createBranch(branch_id, Option.none())
        yield* driver.start({ branch_id, endpoint_id, generation: 1, roles: [] })
        const cluster = clusterAt(realpathSync(join(dataDir, "computes", "branches", branch_id)), "compute")
        const priorities = (yield* processesOf(cluster.name)).flatMap(priorityOf)
        assert.isAbove(priorities.length, 1)
        const lower = Math.min(constants.priority.PRIORITY_LOW, getPriority() + 10)
        assert.deepStrictEqual(new Set(priorities), new Set([lower]))
        const postmaster = Option.getOrThrow(yield* findPostmaster(cluster))
        const children = (yield* processesOf(cluster.name)).filter((pid) => pid !== postmaster)
        const scores = children.flatMap(memoryScoreOf)
        assert.isNotEmpty(scores)
        // A process without root's rights cannot lower a value that it has inherited.
        assert.deepStrictEqual(new Set(scores.map((score) => score >= 800)), new Set([true]))
        assert.strictEqual(memoryScoreOf(postmaster)[0], memoryScoreOf(process.pid)[0])
      })
      yield* Effect.provide(work, LocalComputeDriver.layer({ dataDir, binaries: kinds[0].choice }))
    })
  )
})
