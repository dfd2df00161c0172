/** The sessions of tenants and the platform share a machine's CPU, also where the kernel groups processes by session. */
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { constants, getPriority, tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { superuser } from "../src/cluster/Cluster.ts"
import {
  type CpuAccess,
  groupsSessions,
  sharesOf,
  yieldGroup,
  yieldNewSessions,
  yieldProcess
} from "../src/machine/sessionGroups.ts"
import { niceness } from "../src/machine/yieldingCpu.ts"
import { contention } from "./contention.ts"
import { open, runningBranch } from "./runningBranch.ts"

/** The nice value of a process's group. */
const groupOf = (pid: number): number => Number(readFileSync(`/proc/${pid}/autogroup`, "utf8").split("nice ")[1])

const thisMachine: CpuAccess = { proc: "/proc", yieldCpu: yieldGroup }

/** A session of the writer, and the pids of its backend and of the server. */
const session = Effect.gen(function* () {
  const sql = yield* open("writer")
  const [row] = yield* sql.unsafe<{ backend: number }>("SELECT pg_backend_pid() AS backend")
  const backend = row?.backend ?? 0
  const status = readFileSync(`/proc/${backend}/status`, "utf8")
  return { backend, sql, server: Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]) }
})

/**
 * A folder like `/proc`: one server with these sessions and their command lines, of which some want the CPU, on a kernel
 * that groups processes. It is deleted at the end.
 */
const processes = (server: number, sessions: Readonly<Record<number, string>>, wanting: ReadonlyArray<number> = []) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const proc = mkdtempSync(join(tmpdir(), "narthex-proc-"))
      for (const [pid, command] of Object.entries({ [server]: "postgres\0-D", ...sessions })) {
        mkdirSync(join(proc, `${pid}/task/${pid}`), { recursive: true })
        writeFileSync(join(proc, `${pid}/autogroup`), "0")
        writeFileSync(join(proc, `${pid}/cmdline`), command)
        const state = wanting.includes(Number(pid)) ? "R" : "S"
        writeFileSync(join(proc, `${pid}/stat`), `${pid} (postgres: a) R) ${state} 1 1`)
      }
      writeFileSync(join(proc, `${server}/task/${server}/children`), `${Object.keys(sessions).join(" ")} `)
      const machine: CpuAccess = { proc, yieldCpu: (pid, by) => yieldGroup(pid, by, proc) }
      const nice = (pid: number) => readFileSync(join(proc, `${pid}/autogroup`), "utf8").slice(0, 2)
      return { machine, nice, proc }
    }),
    ({ proc }) => Effect.sync(() => rmSync(proc, { recursive: true }))
  )

layer(runningBranch(0), { excludeTestServices: true })("the groups of sessions", (it) => {
  const tags = ["autogroup"]

  it.effect(
    "the group of each process of a server gets the nice value of computes, and is then left alone",
    () =>
      Effect.gen(function* () {
        const { backend, server } = yield* session
        const yielding = new Map<number, number>()
        // Without privileges the kernel accepts ten changes in a second.
        yield* eventually(
          "the session's group to yield",
          Effect.map(yieldNewSessions(sharesOf([server]), superuser, yielding, thisMachine), () =>
            yielding.has(backend)
          ),
          { every: 100 }
        )
        // Several processes of the server may have wanted the CPU.
        assert.isAtLeast(groupOf(backend), niceness)
        assert.strictEqual(groupOf(server), niceness)
        assert.isTrue(yielding.has(server))
      }).pipe(Effect.scoped),
    { tags }
  )

  // For kernels that do not group, and for processes in a CPU control group.
  it.effect("each process of a server is changed once, and a new one by the next call", () =>
    Effect.gen(function* () {
      const writer = "postgres: narthex-1: writer postgres [local] SELECT"
      const { machine, nice, proc } = yield* processes(10, { 11: "postgres: narthex-1: checkpointer ", 12: writer })
      const yielding = new Map([[12, niceness]])
      yield* yieldNewSessions(sharesOf([10], proc), superuser, yielding, machine)
      assert.deepStrictEqual([10, 11, 12].map(nice), [String(niceness), String(niceness), "0"])
      assert.deepStrictEqual([...yielding.keys()], [12, 10, 11])
    }).pipe(Effect.scoped)
  )

  it.effect("sessions of the supervisor, and those that do not show yet whose they are, are left alone", () =>
    Effect.gen(function* () {
      const { machine, nice, proc } = yield* processes(10, {
        11: `postgres: narthex-1: ${superuser} postgres [local] idle`,
        12: "postgres\0-D\0/proc/self/fd/3\0",
        13: `postgres: narthex-1: ${superuser}_writer postgres [local] idle`
      })
      const yielding = new Map<number, number>()
      yield* yieldNewSessions(sharesOf([10], proc), superuser, yielding, machine)
      assert.deepStrictEqual([11, 12, 13].map(nice), ["0", "0", String(niceness)])
      assert.deepStrictEqual([...yielding.keys()], [10, 13])
    }).pipe(Effect.scoped)
  )

  it.effect("new sessions of a server that yields are left alone until it does not, and earlier ones are kept", () =>
    Effect.gen(function* () {
      const writer = "postgres: narthex-1: writer postgres [local] SELECT"
      const { machine, nice, proc } = yield* processes(10, { 11: writer, 12: writer })
      const yielding = new Map([[11, niceness]])
      const yields = (busy: ReadonlySet<number>) =>
        yieldNewSessions(sharesOf([10], proc), superuser, yielding, machine, busy)
      yield* yields(new Set([10]))
      assert.strictEqual(nice(12), "0")
      assert.deepStrictEqual([...yielding.keys()], [11, 10])
      yield* yields(new Set())
      assert.strictEqual(nice(12), String(niceness))
    }).pipe(Effect.scoped)
  )

  it.effect("ten processes of a server that want the CPU have the share of one, and one alone has it again", () =>
    Effect.gen(function* () {
      const pids = Array.from({ length: 12 }, (_, at) => 11 + at)
      const sessions = Object.fromEntries(
        pids.map((pid) => [pid, "postgres: narthex-1: writer postgres [local] SELECT"])
      )
      const [many, one] = [yield* processes(10, sessions, pids.slice(0, 10)), yield* processes(10, sessions, [11])]
      const yielding = new Map<number, number>()
      yield* yieldNewSessions(sharesOf([10], many.proc), superuser, yielding, many.machine)
      // The lowest share that the kernel has, which is an eighth of the usual one. The server itself starts sessions.
      assert.deepStrictEqual([10, 11, 22].map(many.nice), [String(niceness), "19", "19"])
      yield* yieldNewSessions(sharesOf([10], one.proc), superuser, yielding, one.machine)
      assert.deepStrictEqual([11, 22].map(one.nice), [String(niceness), String(niceness)])
    }).pipe(Effect.scoped)
  )

  it.effect("a share that is off by one step is left as it is", () =>
    Effect.gen(function* () {
      const { machine, nice, proc } = yield* processes(10, {
        11: "postgres: narthex-1: writer postgres [local] SELECT"
      })
      const yielding = new Map([[11, niceness + 1]])
      yield* yieldNewSessions(sharesOf([10], proc), superuser, yielding, machine)
      assert.strictEqual(nice(11), "0")
    }).pipe(Effect.scoped)
  )

  it.effect("a process that has ended is forgotten, and cannot be changed", () =>
    Effect.gen(function* () {
      const ended = 2 ** 22 + 1
      const yielding = new Map([[ended, niceness]])
      yield* yieldNewSessions(sharesOf([ended + 1]), superuser, yielding, thisMachine)
      assert.deepStrictEqual(yielding, new Map())
    })
  )

  it.effect(
    "while processes wait for the CPU, the driver lets new sessions of its computes yield it",
    () =>
      Effect.gen(function* () {
        yield* contention
        const { backend } = yield* session
        // The kernel may be able to group, and be told not to.
        const wanted = (yield* groupsSessions) ? niceness : groupOf(backend)
        yield* eventually(
          "the session's group to yield",
          Effect.sync(() => groupOf(backend) >= wanted),
          { every: 50 }
        )
      }).pipe(Effect.scoped),
    { tags }
  )

  it.effect("while processes wait for the CPU, each of many busy sessions of a server has the lowest priority", () =>
    Effect.gen(function* () {
      yield* contention
      const sessions = yield* Effect.all(Array.from({ length: 12 }, () => session))
      const busy = "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b"
      for (const { sql } of sessions) yield* Effect.forkScoped(Effect.ignore(sql.unsafe(busy)))
      yield* eventually(
        "every session to have the lowest priority",
        Effect.sync(() => sessions.every(({ backend }) => getPriority(backend) === constants.priority.PRIORITY_LOW)),
        { every: 50 }
      )
    }).pipe(Effect.scoped)
  )

  it("the priority of a process is lowered, and not raised", () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => undefined, 1_000)"], { stdio: "ignore" })
    const pid = child.pid ?? 0
    try {
      const priorities = [5, 12, 7].map((by) => [yieldProcess(pid, by), getPriority(pid) - getPriority()])
      assert.deepStrictEqual(priorities, [
        [true, 5],
        [true, 12],
        [true, 12]
      ])
    } finally {
      child.kill("SIGKILL")
    }
    assert.isFalse(yieldProcess(2 ** 22 + 1, 5))
  })
})
