/**
 * The control groups of organizations and of the sizes of computes: real ones where this machine has them, else directories in
 * their place. Holds docs/design/proxy.md P41 and docs/design/api.md A41.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { BranchId, ComputeDriver } from "@narthex/core"
import { largeSize, smallSize } from "@narthex/core/testing"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Deferred, Effect, Fiber, Option } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { note } from "../../../test/harness/note.ts"
import { makeCpuGroups } from "../../../test/support/cpuGroups.ts"
import { type Cluster, clusterAt } from "../src/cluster/Cluster.ts"
import { startPostgres, stopPostgres } from "../src/cluster/PostgresProcess.ts"
import {
  ComputeSlice,
  inSlice,
  memoryOf,
  openSlices,
  pidsIn,
  type Slices,
  sliceOf
} from "../src/machine/computeSlices.ts"
import { findMachine } from "../src/machine/Machine.ts"
import { processesOf } from "../src/machine/Processes.ts"
import { runProgram, runToAnyEnd } from "../src/machine/runProgram.ts"
import type { Task } from "./supervisor.ts"
import { closedDirectory, dataDirectory, kinds, supervise } from "./support.ts"

const branch_id = BranchId.make("br-kept")
const ada = "ada/.."

const clusterOf = (dataDir: string) =>
  clusterAt(realpathSync(join(dataDir, "computes", "branches", branch_id)), "compute")

/** Removes a group with those in it. Whether it is gone: the kernel keeps one for as long as its last process ends. */
const removeGroups = (group: string): boolean => {
  if (!existsSync(group)) return true
  try {
    for (const entry of readdirSync(group, { withFileTypes: true }))
      if (entry.isDirectory()) rmdirSync(join(group, entry.name))
    rmdirSync(group)
    return true
  } catch {
    return false
  }
}

/** The groups of organizations, by name. */
const groupsIn = ({ computes }: Pick<Slices, "computes">) =>
  readdirSync(computes, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))

const of =
  (org: string | null, slices: Slices) =>
  <A, E, R>(work: Effect.Effect<A, E, R>) =>
    Effect.provideService(work, ComputeSlice, sliceOf(slices, org))

describe("the CPU control groups of organizations", { tags: ["cpu-groups"] }, () => {
  const groupsOf = (name: string) =>
    Effect.acquireRelease(
      Effect.sync(() => makeCpuGroups(name)),
      ({ remove }) => Effect.promise(remove)
    )

  /** A supervising process in a control group, with a compute that runs. */
  const running = (platform: string, dataDir: string, start: Pick<Task, "generation" | "size"> = {}) =>
    Effect.gen(function* () {
      const own = { run: "compute", dataDir, binaries: kinds[0].choice, cpuGroup: platform, org: "ada" } as const
      const supervisor = yield* supervise({ ...own, ...start })
      return { supervisor, cluster: clusterOf(dataDir), group: join(platform, "computes", "org-ada", branch_id) }
    })

  /** The limits of a server, from the files of its groups, of either version; `undefined`: this machine does not have the file. */
  const limitsOf = (groups: ReadonlyArray<string>) => {
    const numberIn = (...files: ReadonlyArray<string>) => {
      const found = groups.flatMap((group) => files.map((file) => join(group, file))).find(existsSync)
      return found === undefined ? undefined : Number(readFileSync(found, "utf8").trim().split(" ")[0])
    }
    return {
      cpu: numberIn("cpu.max", "cpu.cfs_quota_us"),
      memory: numberIn("memory.max", "memory.limit_in_bytes")
    }
  }

  /** In version 1 the memory is limited in groups of another hierarchy, which are removed when the test ends. */
  const memoryGroup = (platform: string) =>
    Effect.acquireRelease(
      Effect.sync(() => memoryOf(platform)),
      (group) =>
        group === undefined
          ? Effect.void
          : eventually(
              "the groups of memory to be removed",
              Effect.sync(() => removeGroups(group))
            )
    )

  const isWhole = (cluster: Cluster, group: string) =>
    Effect.map(processesOf(cluster.name), (pids) => assert.includeMembers([...pidsIn(group)], [...pids]))

  /** The control groups for a process of this test, divided as the platform divides them. */
  const divided = (platform: string): Slices => {
    const computes = join(platform, "computes")
    mkdirSync(computes)
    for (const group of [platform, computes]) {
      const file = join(group, "cgroup.subtree_control")
      if (existsSync(file)) writeFileSync(file, "+cpu")
    }
    return { computes, entering: new Map() }
  }

  it.live(
    "every process of a server is among the computes, which have the lowest weight, and the supervisor is not",
    () =>
      Effect.gen(function* () {
        const { platform } = yield* groupsOf("members")
        const memory = yield* memoryGroup(platform)
        const started = running(platform, yield* dataDirectory(0), { size: smallSize })
        const { cluster, group, supervisor } = yield* started
        yield* isWhole(cluster, group)
        assert.include(pidsIn(join(platform, "platform")), supervisor.pid)
        assert.deepStrictEqual(pidsIn(platform), [])
        assert.strictEqual(readFileSync(join(platform, "computes", "cpu.idle"), "utf8").trim(), "1")
        assert.strictEqual(readFileSync(join(group, "..", "cpu.idle"), "utf8").trim(), "0")
        const groups = memory === undefined ? [group] : [group, join(memory, branch_id)]
        for (const each of groups) yield* isWhole(cluster, each)
        const limits = limitsOf(groups)
        note(`A compute of ${smallSize.cpus} CPU and ${smallSize.memory_bytes} bytes has ${JSON.stringify(limits)}.`)
        assert.strictEqual(limits.cpu, smallSize.cpus * 100_000)
        if (limits.memory !== undefined) assert.strictEqual(limits.memory, smallSize.memory_bytes)
      }).pipe(Effect.scoped)
  )

  it.live("a server stays in its group when the supervisor is killed, and the next one gives it another size", () =>
    Effect.gen(function* () {
      const { platform } = yield* groupsOf("adopted")
      const memory = yield* memoryGroup(platform)
      const dataDir = yield* dataDirectory(0)
      const { cluster, group, supervisor } = yield* running(platform, dataDir, { size: smallSize })
      yield* supervisor.end("SIGKILL")
      const before = yield* processesOf(cluster.name)
      assert.includeMembers([...pidsIn(group)], before.slice(0, 1))
      mkdirSync(join(platform, "computes", "org-gone"))
      const after = yield* running(platform, dataDir, { generation: 8, size: largeSize })
      assert.notIncludeMembers([...pidsIn(group)], before.slice(0, 1))
      yield* isWhole(cluster, group)
      const limits = limitsOf(memory === undefined ? [group] : [group, join(memory, branch_id)])
      assert.strictEqual(limits.cpu, largeSize.cpus * 100_000)
      if (limits.memory !== undefined) assert.strictEqual(limits.memory, largeSize.memory_bytes)
      assert.deepStrictEqual(groupsIn({ computes: join(platform, "computes") }), ["org-ada"])
      yield* after.supervisor.end("SIGTERM")
    }).pipe(Effect.scoped)
  )

  it.live("the servers and copies of an organization share its group, which is removed once nothing runs there", () =>
    Effect.gen(function* () {
      const { platform } = yield* groupsOf("organizations")
      const options = { dataDir: yield* dataDirectory(0), binaries: kinds[0].choice }
      const create = ComputeDriver.use((driver) => driver.createBranch(branch_id, Option.none()))
      yield* Effect.provide(create, LocalComputeDriver.layer(options))
      const cluster = clusterOf(options.dataDir)
      const slices = divided(platform)
      const started = of(ada, slices)(startPostgres(cluster, yield* findMachine(options)))
      yield* Effect.acquireRelease(started, () => Effect.orDie(stopPostgres(cluster)))
      const [name = ""] = groupsIn(slices)
      assert.deepStrictEqual(groupsIn(slices), ["org-ada%2F.."])
      yield* isWhole(cluster, join(slices.computes, name, branch_id))
      const copy = runProgram("sh", ["-c", "grep -o '/computes/.*' /proc/self/cgroup"], { background: true })
      assert.strictEqual((yield* of(ada, slices)(copy)).trim(), `/computes/${name}/work`)
      assert.strictEqual((yield* of("bob", slices)(copy)).trim(), "/computes/org-bob/work")
      yield* stopPostgres(cluster)
      const isGone = Effect.map(of(null, slices)(copy), () => !groupsIn(slices).includes(name))
      yield* eventually("the group of the organization to be removed", isGone)
    }).pipe(Effect.scoped)
  )

  it.live("a process that is not in the control group does not start, and says so", () =>
    Effect.gen(function* () {
      const { others } = yield* groupsOf("elsewhere")
      const { message } = yield* Effect.flip(openSlices(others))
      assert.include(message, `this process is not in ${others}: it has to be started in that control group`)
    }).pipe(Effect.scoped)
  )
})

describe("the files of control groups", () => {
  /** A directory with the files of a control group that this process is in. */
  const directoryWith = (inside: Readonly<Record<string, string>>, computes: ReadonlyArray<string>) =>
    Effect.map(closedDirectory, (directory) => {
      for (const group of ["platform", "computes"]) mkdirSync(join(directory, group))
      writeFileSync(join(directory, "platform", "cgroup.procs"), `${process.pid}\n`)
      for (const [file, text] of Object.entries(inside)) writeFileSync(join(directory, file), text)
      for (const file of computes) writeFileSync(join(directory, "computes", file), "")
      return directory
    })

  const read = (...path: ReadonlyArray<string>) => readFileSync(join(...path), "utf8")

  it.effect("in version 2 both levels get the controller, and computes yield to everything else", () =>
    Effect.gen(function* () {
      const files = ["cgroup.subtree_control", "cpu.idle", "cpu.weight"]
      const directory = yield* directoryWith({ "cgroup.subtree_control": "" }, files)
      yield* openSlices(directory)
      yield* openSlices(directory)
      assert.strictEqual(read(directory, "cgroup.subtree_control"), "+cpu")
      assert.deepStrictEqual(
        files.map((file) => read(directory, "computes", file)),
        ["+cpu", "1", ""]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("where the group has the controller of memory, those within it have it too", () =>
    Effect.gen(function* () {
      const files = { "cgroup.subtree_control": "", "cgroup.controllers": "cpuset cpu memory\n" }
      const directory = yield* directoryWith(files, ["cpu.idle"])
      yield* openSlices(directory)
      assert.strictEqual(read(directory, "cgroup.subtree_control"), "+cpu +memory")
    }).pipe(Effect.scoped)
  )

  it.effect("an older kernel gives computes the lowest weight, of either version", () =>
    Effect.gen(function* () {
      for (const [file, weight] of [
        ["cpu.weight", "1"],
        ["cpu.shares", "2"]
      ] as const) {
        const directory = yield* directoryWith({}, [file])
        yield* openSlices(directory)
        assert.strictEqual(read(directory, "computes", file), weight)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("a control group without the controller `cpu` is refused", () =>
    Effect.gen(function* () {
      const { reason } = yield* Effect.flip(openSlices(yield* directoryWith({}, [])))
      assert.strictEqual(reason, "it does not have the controller `cpu`")
    }).pipe(Effect.scoped)
  )

  it.effect("a process that the kernel does not move is an error, and not taken for one that has ended", () =>
    Effect.gen(function* () {
      const directory = yield* directoryWith({ "cgroup.procs": `${process.pid}\n` }, ["cpu.shares"])
      rmSync(join(directory, "platform", "cgroup.procs"))
      mkdirSync(join(directory, "platform", "cgroup.procs"))
      const { reason } = yield* Effect.flip(openSlices(directory))
      assert.include(reason, "EISDIR")
    }).pipe(Effect.scoped)
  )

  it.live("a group that cannot be made, or refuses a program, keeps it from nothing", () =>
    Effect.gen(function* () {
      const run = runToAnyEnd("sh", ["-c", "echo done"], { background: true })
      const directory = yield* closedDirectory
      for (const computes of [directory, join(directory, "none", "\0")])
        assert.deepStrictEqual(yield* of(ada, { computes, entering: new Map() })(run), {
          code: 0,
          signal: null,
          out: "done\n",
          err: ""
        })
    }).pipe(Effect.scoped)
  )

  it.effect("a group that a process is about to enter stays, although it is empty", () =>
    Effect.gen(function* () {
      const slices: Slices = { computes: yield* closedDirectory, entering: new Map() }
      const [begun, end] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const enters = inSlice(() => Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(end)))
      const entering = yield* Effect.forkChild(of(ada, slices)(enters))
      yield* Deferred.await(begun)
      yield* of(null, slices)(inSlice(() => Effect.void))
      assert.sameMembers(groupsIn(slices), ["org-ada%2F..", "other"])
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.join(entering)
      yield* of(null, slices)(inSlice(() => Effect.void))
      assert.deepStrictEqual(groupsIn(slices), ["other"])
      assert.strictEqual(slices.entering.size, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("without a control group there is no group to enter", () =>
    Effect.map(
      inSlice((groups) => Effect.succeed(groups)),
      (groups) => assert.deepStrictEqual(groups, [])
    )
  )
})
