/** What is written to the files of CPU control groups, in a directory like one. */
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { CpuGroups } from "../src/machine/CpuGroups.ts"
import { endStart, groupOfServer, leaveGroup, openCpuGroups, setBusy, yields } from "../src/machine/serverGroups.ts"
import { yieldFully } from "../src/machine/yieldFully.ts"
import { openedIn } from "./openedGroups.ts"

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
  const contents = (path: string, ...file: ReadonlyArray<string>) =>
    readFileSync(join(path, ...file), "utf8").split("\n")[0] ?? ""

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

  it.live("the group of a server that an earlier process has left running does not yield any more", () =>
    Effect.gen(function* () {
      const path = yield* directory(2, "narthex-running")
      // What a directory holds keeps it, as a process does.
      for (const file of ["cpu.idle", "cpu.weight"]) writeFileSync(join(path, "narthex-running", file), "")
      yield* openCpuGroups(path)
      assert.strictEqual(contents(path, "narthex-running", "cpu.idle"), "0")
      assert.strictEqual(contents(path, "narthex-running", "cpu.weight"), "50")
    }).pipe(Effect.scoped)
  )

  it.live(
    "a person whose server an earlier process has left running keeps their group, and does not yield any more",
    () =>
      Effect.gen(function* () {
        const [person, ended] = ["a", "b"].map((digit) => `person-${digit.repeat(32)}`)
        const path = yield* directory(2, `${person}/narthex-running`, `${ended}/narthex-ended`, `${ended}/copies`)
        for (const group of [`${person}`, `${person}/narthex-running`])
          for (const file of ["cpu.idle", "cpu.weight"]) writeFileSync(join(path, group, file), "1")
        const groups = yield* openCpuGroups(path)
        assert.strictEqual(groups.of("narthex-running"), join(path, `${person}`, "narthex-running"))
        assert.deepStrictEqual([...groups.people.keys()], [join(path, `${person}`)])
        assert.isFalse(yields(groups, "narthex-running"))
        for (const group of [`${person}`, `${person}/narthex-running`])
          assert.strictEqual(contents(path, group, "cpu.idle"), "0")
        assert.strictEqual(contents(path, `${person}`, "cgroup.subtree_control"), "+cpu")
        assert.strictEqual(contents(path, `${person}/narthex-running`, "cpu.weight"), "50")
        assert.isFalse(existsSync(join(path, `${ended}`)))
      }).pipe(Effect.scoped)
  )

  it.live("a start that has failed has no share of the starts any more, also if its server could not be stopped", () =>
    Effect.gen(function* () {
      const path = yield* directory(2, "narthex-failed")
      const groups = openedIn(path, 2)
      groups.starting.add("narthex-failed")
      for (const file of ["cpu.idle", "cpu.weight"]) writeFileSync(join(path, "narthex-failed", file), "")
      yield* Effect.provideService(endStart("narthex-failed"), CpuGroups, groups)
      assert.strictEqual(contents(path, "narthex-failed", "cpu.weight"), "50")
      assert.strictEqual(groups.starting.size, 0)
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
      assert.sameMembers(
        [...groups.left],
        ["narthex-ending", "narthex-again"].map((cluster) => join(path, cluster))
      )
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
