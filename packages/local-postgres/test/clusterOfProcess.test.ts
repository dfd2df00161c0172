/** Which cluster a process belongs to, in a folder like `/proc`. */
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { clusterOfProcess, forgetOthers, rememberPostmaster } from "../src/machine/clusterOfProcess.ts"

interface Described {
  readonly command?: string
  readonly name?: string
  readonly parent?: number
  readonly began?: number
  readonly memory?: number
}

/** A folder like `/proc`, with one process for each pid that is described. It is deleted at the end. */
const machine = Effect.acquireRelease(
  Effect.sync(() => {
    const proc = mkdtempSync(join(tmpdir(), "narthex-proc-"))
    const has = (pid: number, { began = 7, command, memory = 4096, name = "postgres", parent = 1 }: Described) => {
      mkdirSync(join(proc, String(pid)), { recursive: true })
      rmSync(join(proc, String(pid), "cmdline"), { force: true })
      const before = ["S", parent, ...Array(17).fill(0)]
      writeFileSync(join(proc, `${pid}/stat`), `${pid} (${name}) ${[...before, began, memory, 0].join(" ")}\n`)
      if (command !== undefined) writeFileSync(join(proc, `${pid}/cmdline`), command)
    }
    forgetOthers(new Set())
    /** The pids of which a command line was read. */
    const read: Array<number> = []
    const reading = (path: string) => {
      try {
        const text = readFileSync(path, "utf8")
        if (path.endsWith("/cmdline")) read.push(Number(path.split("/").at(-2)))
        return text
      } catch {
        return ""
      }
    }
    return { has, of: (pid: number) => clusterOfProcess(pid, proc, reading), proc, read }
  }),
  ({ proc }) => Effect.sync(() => rmSync(proc, { recursive: true }))
)

const postmaster = "/usr/bin/postgres\0-D\0/proc/self/fd/3\0-c\0cluster_name=narthex-1\0"

describe("the cluster of a process", () => {
  it.effect("the cluster of a server that was just started is known without its command line", () =>
    Effect.gen(function* () {
      const { has, of, proc, read } = yield* machine
      has(10, { command: `nice\0-n\x005\0${postmaster}`, name: "nice" })
      rememberPostmaster(10, "narthex-1", proc)
      has(10, { command: postmaster })
      assert.strictEqual(of(10), "narthex-1")
      assert.deepStrictEqual(read, [])
      has(10, { command: "sleep\x0060\0", name: "sleep", began: 8 })
      assert.isUndefined(of(10), "another process with its pid")
      rememberPostmaster(99, "narthex-1", proc)
      assert.isUndefined(of(99), "one that has ended")
    }).pipe(Effect.scoped)
  )

  it.effect("the cluster is in the arguments of a postmaster, also a `nice` one, and in the title of a session", () =>
    Effect.gen(function* () {
      const { has, of } = yield* machine
      has(10, { command: postmaster })
      has(11, { command: `nice\0-n\x005\0${postmaster}`, name: "nice" })
      has(12, { command: "postgres: narthex-2: writer postgres [local] SELECT" })
      has(13, { command: "postgres: writer narthex-2: [local] SELECT" })
      assert.deepStrictEqual([10, 11, 12, 13, 14].map(of), [
        "narthex-1",
        "narthex-1",
        "narthex-2",
        undefined,
        undefined
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("the command line is read once: the lock of the memory of a process that yields may be held", () =>
    Effect.gen(function* () {
      const { has, of, read } = yield* machine
      has(10, { command: postmaster })
      has(11, { command: "sleep\0", name: "sleep" })
      for (let look = 0; look < 3; look++) assert.deepStrictEqual([10, 11].map(of), ["narthex-1", undefined])
      assert.deepStrictEqual(read, [10, 11])
    }).pipe(Effect.scoped)
  )

  it.effect("the command line of a known postmaster's child is not read", () =>
    Effect.gen(function* () {
      const { has, of, read } = yield* machine
      has(10, { command: postmaster })
      has(11, { parent: 10, command: "postgres: narthex-1: writer postgres [local] SELECT" })
      assert.deepStrictEqual([10, 11].map(of), ["narthex-1", "narthex-1"])
      assert.deepStrictEqual(read, [10])
    }).pipe(Effect.scoped)
  )

  it.effect("a process that becomes a postmaster belongs from then on, whatever its program is called", () =>
    Effect.gen(function* () {
      const { has, of } = yield* machine
      has(10, { command: "narthex: starts programs\0", name: "MainThread" })
      const before = of(10)
      has(10, { command: "", name: "ld-linux-x86-64" })
      const between = of(10)
      has(10, { command: postmaster, name: "ld-linux-x86-64" })
      assert.deepStrictEqual([before, between, of(10)], [undefined, undefined, "narthex-1"])
    }).pipe(Effect.scoped)
  )

  it.effect("a process that got the pid of an ended one is another process, and so are its children", () =>
    Effect.gen(function* () {
      const { has, of } = yield* machine
      has(10, { command: postmaster })
      of(10)
      has(10, { began: 8, command: postmaster.replace("narthex-1", "narthex-2") })
      has(11, { parent: 10, command: "postgres: narthex-3: checkpointer " })
      assert.deepStrictEqual([11, 10].map(of), ["narthex-3", "narthex-2"])
    }).pipe(Effect.scoped)
  )

  it.effect("a process that has given its memory back has ended", () =>
    Effect.gen(function* () {
      const { has, of } = yield* machine
      has(10, { command: postmaster })
      of(10)
      has(10, { command: postmaster, memory: 0 })
      assert.isUndefined(of(10))
    }).pipe(Effect.scoped)
  )

  it.effect("a process that is not among those that run is forgotten", () =>
    Effect.gen(function* () {
      const { has, of } = yield* machine
      has(10, { command: postmaster })
      of(10)
      has(10, {})
      forgetOthers(new Set([11]))
      assert.isUndefined(of(10))
    }).pipe(Effect.scoped)
  )

  it.live("a real process belongs until it has ended", () =>
    Effect.gen(function* () {
      const child = yield* Effect.acquireRelease(
        // The shell waits for a line, and has no child that would outlive it.
        Effect.sync(() => spawn("sh", ["-c", "read line; :", "sh", "cluster_name=narthex-real"])),
        (child) => Effect.sync(() => child.kill("SIGKILL"))
      )
      const { pid = 0 } = child
      yield* eventually(
        "the process to run its program",
        Effect.sync(() => clusterOfProcess(pid) === "narthex-real")
      )
      child.kill("SIGKILL")
      yield* eventually(
        "its end",
        Effect.sync(() => clusterOfProcess(pid) === undefined)
      )
    }).pipe(Effect.scoped)
  )
})
