/** CPU control groups: of real servers where the kernel lets tests make some, and what is written to their files. */
import { spawn } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { BranchId, ComputeDriver } from "@narthex/core"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Effect, Option } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { makeCpuGroups } from "../../../test/support/cpuGroups.ts"
import { asSupervisor } from "../src/cluster/asSupervisor.ts"
import { clusterAt } from "../src/cluster/Cluster.ts"
import { startPostgres, stopPostgres } from "../src/cluster/PostgresProcess.ts"
import {
  CpuGroups,
  groupOfServer,
  joinGroup,
  leaveGroup,
  openCpuGroups,
  pidsIn,
  serves,
  setBusy,
  shareOfStart
} from "../src/machine/CpuGroups.ts"
import { findMachine } from "../src/machine/Machine.ts"
import { processesOf } from "../src/machine/Processes.ts"
import { runProgram } from "../src/machine/runProgram.ts"
import { yieldFully } from "../src/machine/yieldFully.ts"
import { contention } from "./contention.ts"
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

/** Groups in a directory, which is not divided. */
const openedIn = (directory: string, version: 1 | 2 = existsSync(join(directory, "cpu.weight")) ? 2 : 1) => ({
  copies: join(directory, "copies"),
  of: (cluster: string) => join(directory, cluster),
  version,
  starting: new Set<string>(),
  busy: new Set<string>(),
  attended: new Map<string, number>(),
  left: new Set<string>()
})

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
      // It enters once it runs.
      const waits = ["-c", "until grep -q '/copies$' /proc/self/cgroup; do sleep 0.01; done"]
      yield* Effect.provideService(runProgram("sh", waits, { background: true }), CpuGroups, open)
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

  it.live("a process that is not in the control group does not start, and says so", () =>
    Effect.gen(function* () {
      const { others } = yield* groupsOf("elsewhere")
      const { message } = yield* Effect.flip(openCpuGroups(others))
      assert.include(message, `this process is not in ${others}: it has to be started in that control group`)
    }).pipe(Effect.scoped)
  )
})

/** A directory like a control group of either version, this process in it. It is deleted at the end. */
const directory = (version: 1 | 2, ...servers: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const path = mkdtempSync(join(tmpdir(), "narthex-groups-"))
      const write = (group: string, ...files: ReadonlyArray<string>) => {
        mkdirSync(join(path, group), { recursive: true })
        for (const file of files) writeFileSync(join(path, group, file), "")
      }
      const own = version === 2 ? ["cpu.weight", "cpu.idle"] : ["cpu.shares", "cpu.idle"]
      write("", "cgroup.procs", ...(version === 2 ? ["cgroup.controllers", "cgroup.subtree_control"] : []))
      if (version === 2) writeFileSync(join(path, "cgroup.controllers"), "memory cpu\n")
      for (const group of ["platform", "copies"]) write(group, "cgroup.procs", ...own)
      for (const server of servers) write(server)
      writeFileSync(join(path, "platform/cgroup.procs"), `${process.pid}\n`)
      return path
    }),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )

describe("what is written to a control group", () => {
  const contents = (path: string, ...file: ReadonlyArray<string>) => readFileSync(join(path, ...file), "utf8")

  it.live("version 2: it gives its shares to the groups in it", () =>
    Effect.gen(function* () {
      const path = yield* directory(2)
      yield* openCpuGroups(path)
      assert.strictEqual(contents(path, "cgroup.subtree_control"), "+cpu")
      assert.strictEqual(contents(path, "platform", "cpu.weight"), "400")
      assert.strictEqual(contents(path, "copies", "cpu.weight"), "400")
    }).pipe(Effect.scoped)
  )

  it.live("version 1: the shares have the same ratio", () =>
    Effect.gen(function* () {
      const path = yield* directory(1)
      yield* openCpuGroups(path)
      assert.strictEqual(contents(path, "platform", "cpu.shares"), "4096")
      assert.strictEqual(contents(path, "copies", "cpu.shares"), "4096")
    }).pipe(Effect.scoped)
  )

  it.live("a server has a larger share until it serves, and a busy one yields on when a further endpoint starts", () =>
    Effect.gen(function* () {
      const path = yield* directory(2)
      const groups = yield* openCpuGroups(path)
      const server = yield* Effect.acquireRelease(
        Effect.sync(() => spawn("sleep", ["60"])),
        (process) => Effect.sync(() => process.kill("SIGKILL"))
      )
      const within = <A, E>(work: Effect.Effect<A, E>) => Effect.provideService(work, CpuGroups, groups)
      const written = (file: string) => contents(path, "narthex-1", file)
      const empty = () => {
        for (const file of ["cpu.weight", "cpu.idle"]) writeFileSync(join(path, "narthex-1", file), "")
      }
      mkdirSync(join(path, "narthex-1"))
      empty()
      yield* within(groupOfServer("narthex-1"))
      assert.strictEqual(written("cpu.weight"), "400")
      empty()
      const yields = within(yieldFully(server.pid ?? 0, "narthex-1"))
      yield* yields
      assert.strictEqual(written("cpu.weight"), "50")
      setBusy(groups, "narthex-1", true)
      yield* yields
      assert.strictEqual(written("cpu.idle"), "1")
    }).pipe(Effect.scoped)
  )

  it("the share of a start is that of all together, divided, between that of a server that serves and that of the platform", () => {
    assert.deepStrictEqual([1, 2, 3, 16, 100].map(shareOfStart), [400, 400, 266, 50, 50])
  })

  it.live("the fewer servers start, the larger is the share of each, whether the others serve or have ended", () =>
    Effect.gen(function* () {
      const servers = Array.from({ length: 6 }, (_, at) => `narthex-${at}`)
      const path = yield* directory(2)
      const groups = yield* openCpuGroups(path)
      const within = <A, E>(work: Effect.Effect<A, E>) => Effect.provideService(work, CpuGroups, groups)
      const empty = (server: string) => {
        for (const file of ["cpu.weight", "cpu.idle"]) writeFileSync(join(path, server, file), "")
      }
      /** What a change writes. */
      const sharesAfter = (change: Effect.Effect<unknown, unknown>) =>
        Effect.gen(function* () {
          for (const server of servers) empty(server)
          yield* change
          return servers.map((server) => contents(path, server, "cpu.weight"))
        })
      for (const server of servers) mkdirSync(join(path, server))
      const begin = Effect.forEach(servers, (server) => within(groupOfServer(server)))
      assert.deepStrictEqual(yield* sharesAfter(begin), Array(6).fill("133"))
      const first = Effect.sync(() => serves(groups, "narthex-0"))
      assert.deepStrictEqual(yield* sharesAfter(first), ["50", "160", "160", "160", "160", "160"])
      const second = within(leaveGroup("narthex-1"))
      assert.deepStrictEqual(yield* sharesAfter(second), ["", "", "200", "200", "200", "200"])
    }).pipe(Effect.scoped)
  )

  it.live("groups of servers that have ended are removed, and nothing else", () =>
    Effect.gen(function* () {
      const path = yield* directory(2, "narthex-ended", "another")
      yield* openCpuGroups(path)
      assert.sameMembers(
        readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])),
        ["another", "copies", "platform"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("the group of a server that is stopped is removed, and one that is not there is no failure", () =>
    Effect.gen(function* () {
      const path = yield* directory(2, "narthex-stopped")
      const groups = openedIn(path, 2)
      const leave = Effect.andThen(leaveGroup("narthex-stopped"), leaveGroup("narthex-never"))
      yield* Effect.provideService(leave, CpuGroups, groups)
      assert.isFalse(existsSync(join(path, "narthex-stopped")))
      assert.strictEqual(groups.left.size, 0)
    }).pipe(Effect.scoped)
  )

  it.live("a group whose processes still end is removed by the start of a server, unless it is that server's", () =>
    Effect.gen(function* () {
      const path = yield* directory(2, "narthex-ending", "narthex-again")
      const groups = openedIn(path, 2)
      // What a directory holds keeps it, as a process does.
      for (const file of ["narthex-ending/process", "narthex-again/cpu.idle", "narthex-again/cpu.weight"])
        writeFileSync(join(path, file), "")
      const within = Effect.provideService(CpuGroups, groups)
      yield* within(Effect.andThen(leaveGroup("narthex-ending"), leaveGroup("narthex-again")))
      assert.sameMembers([...groups.left], ["narthex-ending", "narthex-again"])
      rmSync(join(path, "narthex-ending/process"))
      yield* within(groupOfServer("narthex-again"))
      assert.isFalse(existsSync(join(path, "narthex-ending")))
      assert.isTrue(existsSync(join(path, "narthex-again")))
      assert.strictEqual(groups.left.size, 0)
    }).pipe(Effect.scoped)
  )

  it.live("one without the controller `cpu` is refused with what is missing", () =>
    Effect.gen(function* () {
      const [old, without] = [yield* directory(2), yield* directory(2)]
      rmSync(join(old, "copies/cpu.idle"))
      writeFileSync(join(without, "cgroup.controllers"), "memory\n")
      for (const path of [old, without]) {
        const { message } = yield* Effect.flip(openCpuGroups(path))
        assert.include(message, "(NARTHEX_CPU_GROUP) failed: it has no `cpu.idle`")
      }
      assert.strictEqual(contents(without, "cgroup.subtree_control"), "")
    }).pipe(Effect.scoped)
  )
})
