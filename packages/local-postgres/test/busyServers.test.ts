/** Which servers are busy, decided by what their processes have had and wanted. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { attending, demandBetween, isBusyWith, type Known, type Taken, yieldBusy } from "../src/machine/busyServers.ts"
import { CpuGroups } from "../src/machine/CpuGroups.ts"
import { enterPerson } from "../src/machine/personGroups.ts"
import { openedIn } from "./openedGroups.ts"

const second = 1_000_000_000

/** A file of a control group has what was written last, and here what is left of something longer follows it. */
const firstLine = (path: string) => readFileSync(path, "utf8").split("\n")[0] ?? ""

/** `processes`: by pid, seconds that it ran and that it waited. */
const taken = (
  at: number,
  processes: Readonly<Record<number, readonly [number, number]>>,
  ended = 0,
  ready: ReadonlyArray<number> = []
): Taken => ({
  at: at * second,
  processes: new Map(
    Object.entries(processes).map(([pid, [ran, waited]]) => [
      Number(pid),
      { ran: ran * second, waited: waited * second, isReady: ready.includes(Number(pid)) }
    ])
  ),
  ended: ended * second
})

describe("the demand of a server", () => {
  it("it is what its processes had and waited for, in cores", () => {
    const demand = demandBetween(taken(0, { 1: [5, 5], 2: [1, 0] }), taken(2, { 1: [5.5, 5.5], 2: [1.5, 1.5] }))
    assert.deepStrictEqual(demand, { ran: 0.5, waited: 1, wanting: new Set([2]), steady: 1 })
  })

  it("a process that began since counts from its beginning", () => {
    assert.deepStrictEqual(demandBetween(taken(0, {}), taken(1, { 7: [0.25, 0.5] })), {
      ran: 0.25,
      waited: 0.5,
      wanting: new Set<number>(),
      steady: 0
    })
  })

  it("what many short connections ran counts, and the earlier time of a long one that ended does not", () => {
    const demand = demandBetween(taken(0, { 1: [100, 3] }, 10), taken(1, {}, 110.75))
    assert.deepStrictEqual(demand, { ran: 0.75, waited: 0, wanting: new Set<number>(), steady: 0 })
  })

  it("a process that waits and has had nothing has waited all the time, though the kernel adds no wait before its end", () => {
    const processes = { 1: [5, 5], 2: [1, 0] } as const
    const demand = demandBetween(taken(0, processes), taken(2, processes, 0, [1]))
    assert.deepStrictEqual(demand, { ran: 0, waited: 1, wanting: new Set([1]), steady: 0 })
  })

  it("a process that waits most of the time is steady if it ran for some of it, or wanted the CPU before already", () => {
    const steadyWith = (ran: number, waited: number, ...wanted: ReadonlyArray<number>) =>
      demandBetween(taken(0, { 1: [5, 5] }), taken(1, { 1: [5 + ran, 5 + waited] }), new Set(wanted)).steady
    assert.deepStrictEqual([steadyWith(0.2, 0.6), steadyWith(0.2, 0.5), steadyWith(0.05, 0.9)], [1, 0, 0])
    assert.deepStrictEqual([steadyWith(0.05, 0.9, 1), steadyWith(0.05, 0.9, 2), steadyWith(0.05, 0.5, 1)], [1, 0, 0])
  })

  it("a wait that has just ended counts from the last look on", () => {
    const demand = demandBetween(taken(0, { 1: [0, 0] }), taken(2, { 1: [0.5, 60] }))
    assert.deepStrictEqual(demand, { ran: 0.25, waited: 0.75, wanting: new Set([1]), steady: 1 })
  })

  it("a session that ended before the server had waited for it does not make a negative demand", () => {
    assert.deepStrictEqual(demandBetween(taken(0, { 1: [100, 3] }, 10), taken(1, {}, 10)).ran, 0)
  })
})

describe("whether a server is busy", () => {
  const idle = { ran: 0, waited: 0, steady: 0 }

  it("many processes that wait shortly, as at a start, do not make it busy", () => {
    assert.isFalse(isBusyWith({ ran: 0.3, waited: 4, steady: 0 }, false))
  })

  it("one session that computes makes it busy, and so does half a core of short ones", () => {
    assert.isTrue(isBusyWith({ ...idle, steady: 1 }, false))
    assert.isTrue(isBusyWith({ ...idle, ran: 0.51 }, false))
  })

  it("sessions that take turns and want more than a core make it busy with the second look", () => {
    const turns = { ran: 0.3, waited: 0.8, steady: 0 }
    assert.isFalse(isBusyWith(turns, false, { ...turns, waited: 0.6 }))
    assert.isTrue(isBusyWith(turns, false, turns))
    assert.isFalse(isBusyWith({ ...turns, waited: 0.6 }, false, turns))
  })

  it("connections that only wait, such as those of strangers, do not make it busy", () => {
    const waiting = { ran: 0.2, waited: 20, steady: 0 }
    assert.isFalse(isBusyWith(waiting, false, waiting))
  })

  it("it stays busy while its processes get nothing and wait", () => {
    assert.isTrue(isBusyWith({ ...idle, waited: 1 }, true))
  })

  it("it is busy until it wants less than a quarter of a core", () => {
    assert.isTrue(isBusyWith({ ...idle, ran: 0.3 }, true))
    assert.isFalse(isBusyWith({ ...idle, ran: 0.1, waited: 0.1 }, true))
  })
})

/** One server with the pid 10, and a folder like `/proc` in which its processes are. It is deleted at the end. */
const machine = Effect.acquireRelease(
  Effect.sync(() => {
    const root = mkdtempSync(join(tmpdir(), "narthex-busy-"))
    const [proc, group] = [join(root, "proc"), join(root, "narthex-1")]
    mkdirSync(group)
    for (const file of ["cpu.idle", "cpu.weight"]) writeFileSync(join(group, file), "")
    const groups = openedIn(root, 2)
    /** Seconds that its session has run and waited. */
    const has = (ran: number, waited = 0) => {
      writeFileSync(join(group, "cgroup.procs"), "10\n11\n")
      for (const [pid, seconds] of Object.entries({ 10: [0, 0], 11: [ran, waited] })) {
        mkdirSync(join(proc, pid), { recursive: true })
        writeFileSync(join(proc, pid, "schedstat"), `${seconds.map((each) => each * second).join(" ")} 1\n`)
        writeFileSync(join(proc, pid, "stat"), `${pid} (postgres: a) R) S ${Array(12).fill(0).join(" ")} 0 0 20\n`)
      }
    }
    const known: Known = new Map()
    const look = (at: number) => yieldBusy(groups, [{ postmaster: 10, cluster: "narthex-1" }], known, at * second, proc)
    const written = () => ["cpu.idle", "cpu.weight"].map((file) => firstLine(join(group, file)))
    return { groups, has, known, look, root, written }
  }),
  ({ root }) => Effect.sync(() => rmSync(root, { recursive: true }))
)

describe("the control group of a server", () => {
  it.effect("it becomes idle with the second look that sees it compute, and gets its share when it has stopped", () =>
    Effect.gen(function* () {
      const { has, look, written } = yield* machine
      has(100)
      look(0)
      assert.deepStrictEqual(written(), ["", ""])
      has(101)
      look(1)
      assert.deepStrictEqual(written(), ["1", ""])
      look(2)
      assert.deepStrictEqual(written(), ["0", "50"])
    }).pipe(Effect.scoped)
  )

  it.effect("what all servers of a person take together decides whether their person yields", () =>
    Effect.gen(function* () {
      const { groups, known, root } = yield* machine
      const [home, proc] = [join(root, "person"), join(root, "proc")]
      const file = (path: string, text: string) => {
        mkdirSync(dirname(path), { recursive: true })
        writeFileSync(path, text)
      }
      file(join(home, "cpu.idle"), "")
      file(join(home, "cpu.weight"), "")
      enterPerson(groups, home)
      const servers = [20, 30].map((postmaster) => ({ postmaster, cluster: `narthex-${postmaster}` }))
      /** Each has had, and waited for, so many seconds until then. */
      const look = (at: number, ran: number, waited = 0) => {
        for (const { cluster, postmaster } of servers) {
          groups.homes.set(cluster, home)
          for (const empty of ["cpu.idle", "cpu.weight"]) file(join(home, cluster, empty), "")
          file(join(home, cluster, "cgroup.procs"), `${postmaster}\n`)
          file(join(proc, `${postmaster}/schedstat`), `${ran * second} ${waited * second} 1\n`)
          file(join(proc, `${postmaster}/stat`), `${postmaster} (postgres) S ${Array(12).fill(0).join(" ")} 0 0 20\n`)
        }
        yieldBusy(groups, servers, known, at * second, proc)
        return [groups.people.get(home)?.share, groups.busy.size]
      }
      assert.deepStrictEqual(look(0, 0), [800, 0])
      assert.deepStrictEqual(look(1, 0.2), [800, 0])
      assert.deepStrictEqual(look(2, 0.5), [800, 0])
      assert.deepStrictEqual(look(3, 0.8), ["idle", 0])
      // They get nothing, and wait.
      for (let at = 4; at < 20; at++) assert.deepStrictEqual(look(at, 0.8, (at - 3) / 4), ["idle", 0])
      assert.deepStrictEqual(look(60, 0.8, 4), [800, 0])
    }).pipe(Effect.scoped)
  )

  it.effect("it becomes idle when it has wanted the CPU twice, though it got almost nothing", () =>
    Effect.gen(function* () {
      const { has, look, written } = yield* machine
      for (const at of [0, 1, 2]) {
        assert.deepStrictEqual(written(), ["", ""])
        has(100 + at / 100, at * 0.99)
        look(at)
      }
      assert.deepStrictEqual(written(), ["1", ""])
    }).pipe(Effect.scoped)
  )

  it.effect("while its roles are changed it is not idle, however much it computes", () =>
    Effect.gen(function* () {
      const { groups, has, look, written } = yield* machine
      has(0)
      look(0)
      has(1)
      look(1)
      assert.deepStrictEqual(written(), ["1", ""])
      const seen = (at: number) =>
        Effect.sync(() => {
          has(at)
          look(at)
          assert.deepStrictEqual(written(), ["0", "400"])
        })
      // Two changes at once, of which one ends first.
      const changes = attending("narthex-1", Effect.andThen(attending("narthex-1", seen(2)), seen(3)))
      yield* Effect.provideService(changes, CpuGroups, groups)
      has(4)
      look(4)
      assert.deepStrictEqual(written(), ["1", "50"])
    }).pipe(Effect.scoped)
  )

  it.effect("what it takes to start does not make it idle, neither then nor afterwards", () =>
    Effect.gen(function* () {
      const { groups, has, look, written } = yield* machine
      groups.starting.add("narthex-1")
      for (const at of [0, 1, 2]) {
        has(at)
        look(at)
      }
      groups.starting.delete("narthex-1")
      has(2.9)
      look(3)
      has(2.9)
      look(4)
      assert.deepStrictEqual(written(), ["", ""])
    }).pipe(Effect.scoped)
  )

  it.effect("while it starts a change of its roles leaves it the share of a start", () =>
    Effect.gen(function* () {
      const { groups, written } = yield* machine
      groups.starting.add("narthex-1")
      yield* Effect.provideService(attending("narthex-1", Effect.void), CpuGroups, groups)
      assert.deepStrictEqual(written(), ["0", "400"])
    }).pipe(Effect.scoped)
  )

  it.effect("one that has ended is forgotten", () =>
    Effect.gen(function* () {
      const { groups, has, known, look } = yield* machine
      has(1)
      look(0)
      yieldBusy(groups, [], known, second)
      assert.deepStrictEqual(known, new Map())
    }).pipe(Effect.scoped)
  )
})
