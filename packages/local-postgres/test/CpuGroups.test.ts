import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { BranchId, ComputeDriver, ComputeTenant } from "@narthex/core"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Effect, Option } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { makeCpuGroups } from "../../../test/support/cpuGroups.ts"
import { asSupervisor } from "../src/cluster/asSupervisor.ts"
import { clusterAt } from "../src/cluster/Cluster.ts"
import { startPostgres, stopPostgres } from "../src/cluster/PostgresProcess.ts"
import { CpuGroups } from "../src/machine/CpuGroups.ts"
import { copying } from "../src/machine/copyGroups.ts"
import { divideGroup, joinGroup, pidsIn } from "../src/machine/cpuGroupFiles.ts"
import { findMachine } from "../src/machine/Machine.ts"
import { processesOf } from "../src/machine/Processes.ts"
import { groupOfPerson } from "../src/machine/personGroups.ts"
import { runProgram, runToAnyEnd } from "../src/machine/runProgram.ts"
import { groupOfServer, leaveGroup, openCpuGroups } from "../src/machine/serverGroups.ts"
import { yieldFully } from "../src/machine/yieldFully.ts"
import { contention } from "./contention.ts"
import { openedIn } from "./openedGroups.ts"
import { dataDirectory, kinds, supervise } from "./support.ts"

const tags = ["cpu-groups"]

const groupsOf = (name: string) =>
  Effect.acquireRelease(
    Effect.sync(() => makeCpuGroups(name)),
    ({ remove }) => Effect.promise(remove)
  )

const isIdle = (group: string) => readFileSync(join(group, "cpu.idle"), "utf8").trim() === "1"

const clusterOf = (dataDir: string) =>
  clusterAt(realpathSync(join(dataDir, "computes", "branches", BranchId.make("br-kept"))), "compute")

/** A supervising process in a control group, with a compute that runs. */
const running = (platform: string, dataDir: string) =>
  Effect.gen(function* () {
    const task = { run: "compute", dataDir, binaries: kinds[0].choice, cpuGroup: platform } as const
    const supervisor = yield* supervise(task)
    const cluster = clusterOf(dataDir)
    return { cluster, group: join(platform, cluster.name), supervisor }
  })

describe("the CPU control group of a compute", { tags }, () => {
  it.live("it has every process of the server, and the supervisor is in another", () =>
    Effect.gen(function* () {
      const { platform } = yield* groupsOf("members")
      const { cluster, group, supervisor } = yield* running(platform, yield* dataDirectory(0))
      assert.includeMembers([...pidsIn(group)], [...(yield* processesOf(cluster.name))])
      assert.include(pidsIn(join(platform, "platform")), supervisor.pid)
      assert.deepStrictEqual(pidsIn(platform), [])
    }).pipe(Effect.scoped)
  )

  it.live("it yields the CPU to every other process while the server is busy, and no longer", () =>
    Effect.gen(function* () {
      const { platform } = yield* groupsOf("busy")
      const { cluster, group } = yield* running(platform, yield* dataDirectory(0))
      yield* contention
      const computing = "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b"
      assert.isFalse(isIdle(group))
      const becomesIdle = eventually(
        "the group to yield",
        Effect.sync(() => isIdle(group)),
        { every: 20 }
      )
      yield* Effect.raceFirst(
        asSupervisor(cluster, "postgres", (sql) => sql.unsafe(computing)),
        becomesIdle
      )
      yield* eventually(
        "the group to have its share again",
        Effect.sync(() => !isIdle(group)),
        { every: 20 }
      )
    }).pipe(Effect.scoped)
  )

  it.live("a process that takes over gives every server the group and the share of one that is not busy", () =>
    Effect.gen(function* () {
      const { platform } = yield* groupsOf("adopted")
      const dataDir = yield* dataDirectory(0)
      const { cluster, group, supervisor } = yield* running(platform, dataDir)
      yield* supervisor.end("SIGKILL")
      writeFileSync(join(group, "cpu.idle"), "1")
      for (const pid of pidsIn(group)) joinGroup(join(platform, "platform"), pid)
      const after = yield* running(platform, dataDir)
      assert.includeMembers([...pidsIn(group)], [...(yield* processesOf(cluster.name))])
      assert.isFalse(isIdle(group))
      yield* after.supervisor.end("SIGTERM")
    }).pipe(Effect.scoped)
  )

  it.live("a program that works for a tenant is in the group for copies", () =>
    Effect.gen(function* () {
      const { platform } = yield* groupsOf("copies")
      const open = openedIn(platform)
      mkdirSync(open.copies)
      // Version 2 moves it once it runs.
      const isInside = "grep -q '/copies$' /proc/self/cgroup"
      const script = open.version === 2 ? `until ${isInside}; do sleep 0.01; done` : isInside
      yield* Effect.provideService(runProgram("sh", ["-c", script], { background: true }), CpuGroups, open)
    }).pipe(Effect.scoped)
  )

  it.live("a program whose group has been removed runs all the same, and prints nothing of it", () =>
    Effect.gen(function* () {
      const { platform } = yield* groupsOf("removed")
      const run = runToAnyEnd("sh", ["-c", "echo done"], { background: true })
      const ended = yield* Effect.provideService(run, CpuGroups, openedIn(join(platform, "none")))
      assert.deepStrictEqual(ended, { code: 0, signal: null, out: "done\n", err: "" })
    }).pipe(Effect.scoped)
  )

  it.live("a server that runs already enters its group with all its processes", () =>
    Effect.gen(function* () {
      const { platform } = yield* groupsOf("running")
      const options = { dataDir: yield* dataDirectory(0), binaries: kinds[0].choice }
      const create = ComputeDriver.use((driver) => driver.createBranch(BranchId.make("br-kept"), Option.none()))
      yield* Effect.provide(create, LocalComputeDriver.layer(options))
      const cluster = clusterOf(options.dataDir)
      const started = startPostgres(cluster, yield* findMachine(options))
      const postmaster = yield* Effect.acquireRelease(started, () => Effect.orDie(stopPostgres(cluster)))
      const enters = Effect.andThen(groupOfServer(cluster.name), yieldFully(postmaster, cluster.name))
      const groups = openedIn(platform)
      if (groups.version === 2) writeFileSync(join(platform, "cgroup.subtree_control"), "+cpu")
      yield* Effect.provideService(enters, CpuGroups, groups)
      assert.includeMembers([...pidsIn(join(platform, cluster.name))], [...(yield* processesOf(cluster.name))])
    }).pipe(Effect.scoped)
  )

  it.live("the servers and copies of a person are in one group, which is removed with the last of them", () =>
    Effect.gen(function* () {
      const { platform } = yield* groupsOf("people")
      const options = { dataDir: yield* dataDirectory(0), binaries: kinds[0].choice }
      const create = ComputeDriver.use((driver) => driver.createBranch(BranchId.make("br-kept"), Option.none()))
      yield* Effect.provide(create, LocalComputeDriver.layer(options))
      const cluster = clusterOf(options.dataDir)
      const groups = openedIn(platform)
      divideGroup(groups.version, platform)
      const home = groupOfPerson(groups, "ada")
      const hers = <A, E, R>(work: Effect.Effect<A, E, R>) =>
        work.pipe(Effect.provideService(ComputeTenant, Effect.succeed("ada")), Effect.provideService(CpuGroups, groups))
      const started = hers(startPostgres(cluster, yield* findMachine(options)))
      const stopped = hers(Effect.orDie(stopPostgres(cluster)))
      const postmaster = yield* Effect.acquireRelease(started, () => stopped)
      yield* hers(yieldFully(postmaster, cluster.name))
      assert.includeMembers([...pidsIn(join(home, cluster.name))], [...(yield* processesOf(cluster.name))])
      const entered = "/platform/person-[0-9a-f]*/copies$"
      const waits = ["-c", `until grep -q '${entered}' /proc/self/cgroup; do sleep 0.01; done`]
      yield* hers(copying(runProgram("sh", waits, { background: true })))
      yield* stopped
      const isGone = Effect.map(hers(leaveGroup(cluster.name)), () => !existsSync(home))
      yield* eventually("the group of the person to be removed", isGone)
      assert.strictEqual(groups.people.size, 0)
    }).pipe(Effect.scoped)
  )

  it.live("a process that is not in the control group does not start, and says so", () =>
    Effect.gen(function* () {
      const { others } = yield* groupsOf("elsewhere")
      const { message } = yield* Effect.flip(openCpuGroups(others))
      assert.include(message, `this process is not in ${others}: it has to be started in that control group`)
    }).pipe(Effect.scoped)
  )
})
