/** How the CPU is divided among people, and who yields: decisions, and what is written in directories like control groups. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { ComputeTenant } from "@narthex/core"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
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
  personOfCall,
  shareOfPerson,
  weighPeople
} from "../src/machine/personGroups.ts"
import { endStart, groupOfServer, setBusy, yields } from "../src/machine/serverGroups.ts"
import { openedIn } from "./openedGroups.ts"

const second = 1_000_000_000

describe("the part of the cores that a person may take", () => {
  it("those who do not yield want half of the cores together at most, and one person alone a quarter", () => {
    assert.deepStrictEqual(
      [1, 2, 4, 20].map((people) => partOf(8, people)),
      [2, 2, 1, 0.2]
    )
  })

  const light = { cores: 0, wanted: 0, isHeavy: false }

  it("one who takes twice as much yields from the first look on", () => {
    assert.deepStrictEqual(demandAfter(light, 1.1, 0.5), { cores: 1.1, wanted: 1.1, isHeavy: true })
    assert.isFalse(demandAfter(light, 1, 0.5).isHeavy)
  })

  it("one who takes more in two looks in a row yields from the second one on, and one who does for a moment does not", () => {
    const moment = demandAfter(light, 0.9, 0.5)
    assert.isFalse(moment.isHeavy)
    assert.isTrue(demandAfter(moment, 0.6, 0.5).isHeavy)
    assert.isFalse(demandAfter(moment, 0.5, 0.5).isHeavy)
    assert.isFalse(demandAfter(demandAfter(moment, 0.1, 0.5), 0.9, 0.5).isHeavy)
  })

  it("two looks with more than a second between them are not in a row", () => {
    assert.isFalse(demandAfter(demandAfter(light, 0.6, 0.5), 0.6, 0.5, 1.1).isHeavy)
  })

  it("one who takes nothing any more yields until their demand has decayed to half of the part", () => {
    let demand = { cores: 1, wanted: 1, isHeavy: true }
    let looks = 0
    for (; demand.isHeavy; looks++) demand = demandAfter(demand, 0, 0.5)
    assert.strictEqual(looks, 7)
  })

  it("one who takes somewhat less does not yield, however long", () => {
    let demand = light
    for (let look = 0; look < 1_000; look++) demand = demandAfter(demand, 0.45, 0.5)
    assert.isFalse(demand.isHeavy)
  })

  it("a demand decays with the time since the last look, however long that is", () => {
    const heavy = { cores: 1, wanted: 1, isHeavy: true }
    assert.isTrue(demandAfter(heavy, 0, 0.5, 3).isHeavy)
    assert.isFalse(demandAfter(heavy, 0, 0.5, 3.5).isHeavy)
    assert.isBelow(demandAfter(heavy, 0, 0.5, 3_600).cores, 1e-9)
  })

  it("all who do not yield have four times the share of the platform together at most, of up to 32", () => {
    assert.deepStrictEqual(
      [1, 2, 3, 4, 5, 8, 9, 16, 17, 100].map(shareOfPerson),
      [800, 800, 400, 400, 200, 200, 100, 100, 50, 50]
    )
    for (let people = 1; people <= 32; people++) assert.isAtMost(people * shareOfPerson(people), 1_600)
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
    /** A file of a control group has what was written last, and here what is left of something longer follows it. */
    const firstLine = (path: string) => readFileSync(path, "utf8").split("\n")[0] ?? ""
    const shareOf = (path: string) =>
      firstLine(join(path, "cpu.idle")) === "1" ? "idle" : firstLine(join(path, "cpu.weight"))
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
      assert.strictEqual(yield* as("ada", groupOfServer("narthex-1", "ada")), first)
      yield* as("bob", groupOfServer("narthex-4", "bob"))
      assert.deepStrictEqual([ada, bob, first].map(shareOf), ["800", "800", "400"])
      yield* as("ada", groupOfServer("narthex-2", "ada"))
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
      const look = (at: number, hers: number, his: number) => {
        const wants = new Map([
          [ada, hers],
          [bob, his]
        ])
        weighPeople(groups, wants, at * second)
      }
      look(0, 1.1, 0.2)
      assert.deepStrictEqual([ada, bob].map(shareOf), ["idle", "800"])
      look(10, 0.1, 0.2)
      assert.deepStrictEqual([ada, bob].map(shareOf), ["800", "800"])
    }).pipe(Effect.scoped)
  )

  it.effect("the more people want the CPU, the less is the share and the part of each", () =>
    Effect.gen(function* () {
      const { groups, place, shareOf } = yield* machine
      const homes = ["a", "b", "c", "d", "e"].map((person) => place(person))
      for (const home of homes) enterPerson(groups, home)
      const each = (ran: number) => weighPeople(groups, new Map(homes.map((home) => [home, ran])), 0)
      each(0.19)
      assert.deepStrictEqual(homes.map(shareOf), Array(5).fill("200"))
      each(0.41)
      assert.deepStrictEqual(homes.map(shareOf), Array(5).fill("idle"))
    }).pipe(Effect.scoped)
  )

  it.effect("one who yields has a small share while the supervisor works on a server of theirs", () =>
    Effect.gen(function* () {
      const { as, groups, place, shareOf } = yield* machine
      const ada = place("ada")
      const server = place("ada", "narthex-1")
      yield* as("ada", groupOfServer("narthex-1", "ada"))
      yield* as("ada", endStart("narthex-1"))
      weighPeople(groups, new Map([[ada, 1.1]]), 0)
      assert.strictEqual(shareOf(ada), "idle")
      const seen = Effect.sync(() => [ada, server].map(shareOf))
      assert.deepStrictEqual(yield* as("ada", attending("narthex-1", seen)), ["50", "400"])
      assert.deepStrictEqual([ada, server].map(shareOf), ["idle", "50"])
    }).pipe(Effect.scoped)
  )

  it.effect("a person with a busy server yields, and not only that server", () =>
    Effect.gen(function* () {
      const { as, groups, place, shareOf } = yield* machine
      const ada = place("ada")
      place("ada", "narthex-1")
      yield* as("ada", groupOfServer("narthex-1", "ada"))
      yield* as("ada", endStart("narthex-1"))
      setBusy(groups, "narthex-1", true)
      divideAmongPeople(groups)
      assert.strictEqual(shareOf(ada), "idle")
    }).pipe(Effect.scoped)
  )

  it.effect("a start or copy that lasts more than three seconds counts as a core, and a shorter one does not", () =>
    Effect.gen(function* () {
      const { as, groups, place, shareOf } = yield* machine
      const ada = place("ada")
      place("ada", "copies")
      const looks = Effect.sync(() => {
        const seen: Array<string> = []
        for (let look = 1; look <= 7; look++) {
          weighPeople(groups, new Map(), (look * second) / 2)
          seen.push(shareOf(ada))
        }
        return seen
      })
      assert.deepStrictEqual(yield* as("ada", copying(looks)), [...Array(6).fill("800"), "idle"])
    }).pipe(Effect.scoped)
  )

  it.effect("one copy after another with a pause between them is none that goes on", () =>
    Effect.gen(function* () {
      const { as, groups, place, shareOf } = yield* machine
      const ada = place("ada")
      place("ada", "copies")
      for (let look = 1; look <= 20; look++) {
        yield* as("ada", copying(Effect.sync(() => weighPeople(groups, new Map(), (look * second) / 2))))
      }
      assert.strictEqual(shareOf(ada), "800")
    }).pipe(Effect.scoped)
  )

  it.effect("a person who yields is kept after their last server has stopped, until their demand has decayed", () =>
    Effect.gen(function* () {
      const { groups, place } = yield* machine
      const ada = place("ada")
      enterPerson(groups, ada)
      weighPeople(groups, new Map([[ada, 1.1]]), 0)
      rmSync(ada, { recursive: true })
      divideAmongPeople(groups)
      assert.isTrue(groups.people.get(ada)?.demand.isHeavy)
      weighPeople(groups, new Map(), 10 * second)
      assert.isFalse(groups.people.has(ada))
    }).pipe(Effect.scoped)
  )

  it.effect("a store that does not answer keeps a start waiting for one second", () =>
    Effect.gen(function* () {
      const { groups } = yield* machine
      const asked = yield* personOfCall.pipe(
        Effect.provideService(ComputeTenant, Effect.never),
        Effect.provideService(CpuGroups, groups),
        Effect.forkChild
      )
      yield* TestClock.adjust("1 second")
      assert.isNull(yield* Fiber.join(asked))
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

  it.effect("without the files of a control group a copy is made in the group for everyone", () =>
    Effect.gen(function* () {
      const { as } = yield* machine
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
