/** Computes and the platform share a machine's CPU. */
import { readFileSync, realpathSync } from "node:fs"
import { constants, getPriority } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { BranchId, ComputeDriver, EndpointId } from "@narthex/core"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Duration, Effect, Option } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { clusterAt } from "../src/cluster/Cluster.ts"
import { copyStopped } from "../src/cluster/ClusterCopy.ts"
import { findPostmaster } from "../src/cluster/PostgresProcess.ts"
import { processesOf } from "../src/machine/Processes.ts"
import { closedDirectory, dataDirectory, kinds, minted } from "./support.ts"

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

const clusterIn = (dataDir: string) =>
  clusterAt(realpathSync(join(dataDir, "computes", "branches", branch_id)), "compute")

const lowerBy = (more: number) => Math.min(constants.priority.PRIORITY_LOW, getPriority() + more)

const prioritiesOf = (dataDir: string) =>
  Effect.map(processesOf(clusterIn(dataDir).name), (pids) => new Set(pids.flatMap(priorityOf)))

describe("the priority of computes", () => {
  it.live("every process of a compute yields the CPU to the supervisor, and ends before it when memory is short", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataDirectory(0)
      const work = Effect.gen(function* () {
        const driver = yield* ComputeDriver
        yield* driver.createBranch(branch_id, Option.none())
        yield* driver.start({ branch_id, endpoint_id, generation: 1, roles: [] })
        const cluster = clusterIn(dataDir)
        const priorities = (yield* processesOf(cluster.name)).flatMap(priorityOf)
        assert.isAbove(priorities.length, 1)
        assert.deepStrictEqual(new Set(priorities), new Set([lowerBy(10)]))
        const postmaster = Option.getOrThrow(yield* findPostmaster(cluster))
        // A process sets its score soon after its start. Without root's rights it cannot lower one that it has inherited.
        yield* eventually(
          "every process but the postmaster to end first when memory is short",
          Effect.map(processesOf(cluster.name), (pids) => {
            const scores = pids.filter((pid) => pid !== postmaster).flatMap(memoryScoreOf)
            return scores.length > 0 && scores.every((score) => score >= 800)
          })
        )
        assert.strictEqual(memoryScoreOf(postmaster)[0], memoryScoreOf(process.pid)[0])
      })
      yield* Effect.provide(work, LocalComputeDriver.layer({ dataDir, binaries: kinds[0].choice }))
    })
  )

  it.live("a copy has the priority of a server", () =>
    Effect.gen(function* () {
      const copy = join(yield* closedDirectory, "copy")
      // The program copies what the kernel says of itself, and this is no directory that can be cleared afterwards.
      yield* Effect.flip(copyStopped("/proc/self/stat", copy))
      const [, fields = ""] = readFileSync(copy, "utf8").split(") ")
      assert.strictEqual(Number(fields.split(" ")[16]), lowerBy(10))
    }).pipe(Effect.scoped)
  )

  it.live("a server that was restarted to apply its roles yields the CPU as any other", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataDirectory(0)
      const work = Effect.gen(function* () {
        const driver = yield* ComputeDriver
        yield* driver.createBranch(branch_id, Option.none())
        yield* driver.start({ branch_id, endpoint_id, generation: 1, roles: [minted("writer", "read_write")] })
        assert.deepStrictEqual(yield* prioritiesOf(dataDir), new Set([lowerBy(10)]))
      })
      // Without time for the roles, the server is restarted.
      const limits = { revocation_within: Duration.zero }
      yield* Effect.provide(work, LocalComputeDriver.layer({ dataDir, binaries: kinds[0].choice, limits }))
    })
  )
})
