/** The CPU control groups of organizations: real ones where this machine has them, else directories in their place. */
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { BranchId, ComputeDriver } from "@narthex/core"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Deferred, Effect, Fiber, Option } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { makeCpuGroups } from "../../../test/support/cpuGroups.ts"
import { type Cluster, clusterAt } from "../src/cluster/Cluster.ts"
import { startPostgres, stopPostgres } from "../src/cluster/PostgresProcess.ts"
import { ComputeSlice, inSlice, openSlices, pidsIn, type Slices, sliceOf } from "../src/machine/computeSlices.ts"
import { findMachine } from "../src/machine/Machine.ts"
import { processesOf } from "../src/machine/Processes.ts"
import { runProgram, runToAnyEnd } from "../src/machine/runProgram.ts"
import { closedDirectory, dataDirectory, kinds, supervise } from "./support.ts"

const branch_id = BranchId.make("br-kept")
const ada = "ada/.."

const clusterOf = (dataDir: string) =>
  clusterAt(realpathSync(join(dataDir, "computes", "branches", branch_id)), "compute")

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
  const running = (platform: string, dataDir: string) =>
    Effect.gen(function* () {
      const task = { run: "compute", dataDir, binaries: kinds[0].choice, cpuGroup: platform, org: "ada" } as const
      const supervisor = yield* supervise(task)
      return { supervisor, cluster: clusterOf(dataDir), group: join(platform, "computes", "org-ada") }
    })

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
        const { cluster, group, supervisor } = yield* running(platform, yield* dataDirectory(0))
        yield* isWhole(cluster, group)
        assert.include(pidsIn(join(platform, "platform")), supervisor.pid)
        assert.deepStrictEqual(pidsIn(platform), [])
        assert.strictEqual(readFileSync(join(platform, "computes", "cpu.idle"), "utf8").trim(), "1")
        assert.strictEqual(readFileSync(join(group, "cpu.idle"), "utf8").trim(), "0")
      }).pipe(Effect.scoped)
  )

  it.live("a server stays in its group when the supervisor is killed, and the next one divides the same groups", () =>
    Effect.gen(function* () {
      const { platform } = yield* groupsOf("adopted")
      const dataDir = yield* dataDirectory(0)
      const { cluster, group, supervisor } = yield* running(platform, dataDir)
      yield* supervisor.end("SIGKILL")
      const before = yield* processesOf(cluster.name)
      mkdirSync(join(platform, "computes", "org-gone"))
      const after = yield* running(platform, dataDir)
      assert.includeMembers([...pidsIn(group)], before.slice(0, 1))
      yield* isWhole(cluster, group)
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
      yield* isWhole(cluster, join(slices.computes, name))
      const copy = runProgram("sh", ["-c", "grep -o '/computes/.*' /proc/self/cgroup"], { background: true })
      assert.strictEqual((yield* of(ada, slices)(copy)).trim(), `/computes/${name}`)
      assert.strictEqual((yield* of("bob", slices)(copy)).trim(), "/computes/org-bob")
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
      inSlice((group) => Effect.succeed(group)),
      (group) => assert.isUndefined(group)
    )
  )
})
