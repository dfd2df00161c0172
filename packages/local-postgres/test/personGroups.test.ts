/** How the CPU is divided among people, and who yields: decisions, and what is written in directories like control groups. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { ComputeTenant } from "@narthex/core"
import { Effect } from "effect"
import { attending } from "../src/machine/busyServers.ts"
import { CopyGroup, CpuGroups } from "../src/machine/CpuGroups.ts"
import { copying } from "../src/machine/copyGroups.ts"
import {
  demandAfter,
  divideAmongPeople,
  enterPerson,
  groupOfPerson,
  isPerson,
  partOf,
  shareOfPerson,
  weighPeople
} from "../src/machine/personGroups.ts"
import { endStart, groupOfServer, yields } from "../src/machine/serverGroups.ts"
import { openedIn } from "./openedGroups.ts"

describe("the part of the cores that a person may take", () => {
  it("those who do not yield want half of the cores together at most, and one person alone a quarter", () => {
    assert.deepStrictEqual(
      [1, 2, 4, 20].map((people) => partOf(8, people)),
      [2, 2, 1, 0.2]
    )
  })

  const light = { cores: 0, isHeavy: false }

  it("one who takes more yields from the first look on", () => {
    assert.deepStrictEqual(demandAfter(light, 0.6, 0.5), { cores: 0.6, isHeavy: true })
    assert.isFalse(demandAfter(light, 0.5, 0.5).isHeavy)
  })

  it("one who takes nothing any more yields until half of the part is left of what they took", () => {
    let demand = demandAfter(light, 1, 0.5)
    let looks = 0
    for (; demand.isHeavy; looks++) demand = demandAfter(demand, 0, 0.5)
    assert.strictEqual(looks, 7)
  })

  it("one who takes somewhat less does not yield, however long", () => {
    let demand = light
    for (let look = 0; look < 1_000; look++) demand = demandAfter(demand, 0.45, 0.5)
    assert.isFalse(demand.isHeavy)
  })

  it("the share of a person is more than the platform's until five want the CPU, and has a lower bound", () => {
    assert.deepStrictEqual([1, 2, 4, 16, 100].map(shareOfPerson), [800, 800, 400, 100, 100])
  })

  it("two people have two groups, whatever their ids contain", () => {
    const groups = openedIn("/groups", 2)
    const [ada, other] = [groupOfPerson(groups, "ada"), groupOfPerson(groups, "../../ada")]
    assert.notStrictEqual(ada, other)
    assert.deepStrictEqual([ada, other].map(isPerson), [true, true])
    assert.isFalse(isPerson("/groups/person-of-the-operator"))
  })
})

/** Groups of version 2 for two cores, whose files exist before they are written. They are deleted at the end. */
const machine = Effect.acquireRelease(
  Effect.sync(() => {
    const root = mkdtempSync(join(tmpdir(), "narthex-people-"))
    const groups = openedIn(root, 2)
    /** Where a server of the person is, or their copies. */
    const place = (person: string, ...group: ReadonlyArray<string>) => {
      const path = join(groupOfPerson(groups, person), ...group)
      mkdirSync(path, { recursive: true })
      for (const file of ["cpu.idle", "cpu.weight"]) writeFileSync(join(path, file), "")
      return path
    }
    const shareOf = (path: string) =>
      readFileSync(join(path, "cpu.idle"), "utf8") === "1" ? "idle" : readFileSync(join(path, "cpu.weight"), "utf8")
    const as = <A, E, R>(person: string, work: Effect.Effect<A, E, R>) =>
      work.pipe(Effect.provideService(ComputeTenant, Effect.succeed(person)), Effect.provideService(CpuGroups, groups))
    return { as, groups, place, root, shareOf }
  }),
  ({ root }) => Effect.sync(() => rmSync(root, { recursive: true }))
)

describe("the control group of a person", () => {
  it.effect("a start is within it, and a second one at once makes the person yield, starts included", () =>
    Effect.gen(function* () {
      const { as, groups, place, shareOf } = yield* machine
      const [ada, bob] = [place("ada"), place("bob")]
      const first = place("ada", "narthex-1")
      for (const cluster of ["narthex-2", "narthex-3"]) place("ada", cluster)
      place("bob", "narthex-4")
      assert.strictEqual(yield* as("ada", groupOfServer("narthex-1")), first)
      yield* as("bob", groupOfServer("narthex-4"))
      assert.deepStrictEqual([ada, bob, first].map(shareOf), ["800", "800", "400"])
      yield* as("ada", groupOfServer("narthex-2"))
      assert.deepStrictEqual([ada, bob].map(shareOf), ["idle", "800"])
      assert.deepStrictEqual(
        ["narthex-1", "narthex-4"].map((cluster) => yields(groups, cluster)),
        [true, false]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("a person whose servers take more than their part yields as a whole, until they take less", () =>
    Effect.gen(function* () {
      const { groups, place, shareOf } = yield* machine
      const [ada, bob] = [place("ada"), place("bob")]
      for (const home of [ada, bob]) enterPerson(groups, home)
      weighPeople(
        groups,
        new Map([
          [ada, 0.6],
          [bob, 0.2]
        ])
      )
      assert.deepStrictEqual([ada, bob].map(shareOf), ["idle", "800"])
      for (let look = 0; look < 10; look++) weighPeople(groups, new Map([[bob, 0.2]]))
      assert.deepStrictEqual([ada, bob].map(shareOf), ["800", "800"])
    }).pipe(Effect.scoped)
  )

  it.effect("the more people want the CPU, the less is the share and the part of each", () =>
    Effect.gen(function* () {
      const { groups, place, shareOf } = yield* machine
      const homes = ["a", "b", "c", "d", "e"].map((person) => place(person))
      for (const home of homes) enterPerson(groups, home)
      const each = (ran: number) => weighPeople(groups, new Map(homes.map((home) => [home, ran])))
      each(0.19)
      assert.deepStrictEqual(homes.map(shareOf), Array(5).fill("320"))
      each(0.21)
      assert.deepStrictEqual(homes.map(shareOf), Array(5).fill("idle"))
    }).pipe(Effect.scoped)
  )

  it.effect("one who yields has a small share while the supervisor works on a server of theirs", () =>
    Effect.gen(function* () {
      const { as, groups, place, shareOf } = yield* machine
      const ada = place("ada")
      place("ada", "narthex-1")
      yield* as("ada", groupOfServer("narthex-1"))
      yield* as("ada", endStart("narthex-1"))
      weighPeople(groups, new Map([[ada, 0.6]]))
      assert.strictEqual(shareOf(ada), "idle")
      // A file of a control group forgets what it had, and this one does not.
      writeFileSync(join(ada, "cpu.weight"), "")
      const seen = Effect.sync(() => shareOf(ada))
      assert.strictEqual(yield* as("ada", attending("narthex-1", seen)), "50")
      assert.strictEqual(shareOf(ada), "idle")
    }).pipe(Effect.scoped)
  )

  it.effect("copies are within it, and two at once make the person yield", () =>
    Effect.gen(function* () {
      const { as, groups, place, shareOf } = yield* machine
      const [ada, copies] = [place("ada"), place("ada", "copies")]
      const within = Effect.gen(function* () {
        assert.strictEqual(yield* CopyGroup, copies)
        return [shareOf(ada), shareOf(copies)]
      })
      assert.deepStrictEqual(yield* as("ada", copying(within)), ["800", "400"])
      assert.deepStrictEqual(yield* as("ada", copying(copying(within))), ["idle", "400"])
      assert.strictEqual(groups.people.get(ada)?.copies, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("one that the operator has removed gets its share when it is made again", () =>
    Effect.gen(function* () {
      const { groups, place, shareOf } = yield* machine
      const ada = place("ada")
      enterPerson(groups, ada).copies = 1
      divideAmongPeople(groups)
      rmSync(ada, { recursive: true })
      enterPerson(groups, ada)
      place("ada")
      divideAmongPeople(groups)
      assert.strictEqual(shareOf(ada), "800")
    }).pipe(Effect.scoped)
  )

  it.effect("one that the operator has removed keeps no start and no copy from its place", () =>
    Effect.gen(function* () {
      const { as, groups } = yield* machine
      // No file of these is there.
      enterPerson(groups, groupOfPerson(groups, "bob"))
      divideAmongPeople(groups)
      assert.isUndefined(yield* as("ada", copying(Effect.map(CopyGroup, (group) => group))))
    }).pipe(Effect.scoped)
  )

  it.effect("a call for an unknown person copies in the group for everyone", () =>
    Effect.gen(function* () {
      const { groups } = yield* machine
      const copied = copying(Effect.map(CopyGroup, (group) => group))
      assert.isUndefined(yield* Effect.provideService(copied, CpuGroups, groups))
      assert.strictEqual(groups.people.size, 0)
    }).pipe(Effect.scoped)
  )
})
