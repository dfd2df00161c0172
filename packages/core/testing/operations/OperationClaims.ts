/**
 * The contract of `OperationStore.claim` where several operations are due: classes, limits and fairness. Run it against
 * every adapter with a fresh layer, because claims see every operation.
 */
import { Effect, Option, Random } from "effect"
import type { BranchId, OrgId } from "../../src/Ids.ts"
import { nextClaim } from "../../src/records/operations/nextClaim.ts"
import { OperationAction as Actions, isFinal, StoredOperation } from "../../src/records/operations/Operation.ts"
import { classOf, OperationClass } from "../../src/records/operations/OperationClass.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aBranchId, anOperation, anOrgId, at } from "../records.ts"
import { atOnce } from "../together.ts"
import {
  aPlace,
  claim,
  claimed,
  clean,
  elsewhere,
  finish,
  here,
  inserted,
  type Place,
  several
} from "./claimFixtures.ts"

interface Turns {
  readonly name: string
  /**
   * In order: `+a1` creates an operation of organization `a` in its project 1, `a1` is one that is claimed next, `a1.` too
   * and ends before the next step, and `-` finds none due.
   */
  readonly story: string
  readonly per_org?: number
}

const turns: ReadonlyArray<Turns> = [
  { name: "organizations take turns at one place", story: "+a1 +a1 +a1 +b1 +b1 a1. b1. a1. b1. a1. -" },
  { name: "organizations take turns at many places", story: "+a1 +a1 +a1 +b1 +b1 a1 b1 a1 b1 a1 -" },
  { name: "an organization that was never served comes first", story: "+a1 +a1 +a1 a1. a1. +b1 +b1 b1 a1 b1 -" },
  { name: "the organization that was served least recently comes first", story: "+a1 +a1 +b1 a1 b1 +b1 a1 b1 -" },
  {
    name: "an organization that has its places waits, and another does not",
    story: "+a1 +a1 +a1 +b1 a1 b1 a1 -",
    per_org: 2
  },
  { name: "an organization has a place again once its operation ends", story: "+a1 +a1 +a1 a1. a1 a1 -", per_org: 2 },
  {
    name: "of an organization the oldest comes first, whatever its project",
    story: "+a1 +a2 +a1 +a1 +a2 a1 a2 a1 a1 a2 -"
  }
]

type Ports = OperationStore | Transaction

export const operationClaimsContract = contract<Ports>("OperationStore claims", (it) => {
  it("a claim of a class leases operations of that class alone", () =>
    Effect.gen(function* () {
      const place = aPlace()
      const made = yield* Effect.forEach(Actions.literals, (action) => inserted(place, action))
      for (const of of OperationClass.literals) {
        const found = yield* claimed(of)
        const expected = made.filter(({ action }) => classOf(action) === of)
        assert.deepStrictEqual(
          found.map(({ action }) => action),
          expected.map(({ action }) => action)
        )
      }
      yield* clean(...made)
    }))

  for (const { name, per_org = 1_000, story } of turns)
    it(name, () =>
      Effect.gen(function* () {
        const [a, b] = [anOrgId(), anOrgId()].toSorted()
        const places: Readonly<Record<string, Place>> = { a1: aPlace(a), a2: aPlace(a), b1: aPlace(b) }
        const waiting = new Map<StoredOperation, string>()
        const all: Array<StoredOperation> = []
        for (const step of story.split(" ")) {
          const [name = "-"] = step.match(/\w+/) ?? []
          const place = places[name]
          if (step.startsWith("+") && place !== undefined) {
            const made = yield* inserted(place, "create_branch")
            waiting.set(made, name)
            all.push(made)
            continue
          }
          const found = Option.getOrUndefined(yield* claim("branches", { per_org }))
          const oldest = [...waiting].find(([, of]) => of === name)?.[0]
          assert.strictEqual(found?.id, oldest?.id, `${step} of ${story}`)
          if (oldest !== undefined) waiting.delete(oldest)
          if (step.endsWith(".") && oldest !== undefined) yield* finish(oldest)
        }
        yield* clean(...all)
      })
    )

  it("the claims of an organization in a class never exceed its limit, on all workers together", () =>
    Effect.gen(function* () {
      const place = aPlace()
      const made = yield* several(8, place, "create_branch")
      const found = (yield* atOnce(8, () => claim("branches", { per_org: 3 }))).flatMap(Option.toArray)
      assert.lengthOf(found, 3)
      yield* clean(...found.slice(0, 1))
      assert.lengthOf(yield* claimed("branches", { per_org: 3 }), 1)
      // Leases that have expired count no more.
      assert.isTrue(Option.isSome(yield* claim("branches", { per_org: 1 }, 31)))
      yield* clean(...made)
    }))

  it("copies of one branch are limited, and copies of another branch do not wait for them", () =>
    Effect.gen(function* () {
      const place = aPlace()
      const [parent, another] = [aBranchId(), aBranchId()]
      const made = [
        ...(yield* several(5, place, "create_branch", { copies: parent })),
        ...(yield* several(2, place, "reset_branch", { copies: another })),
        yield* inserted(place, "create_timeline")
      ]
      const found = (yield* atOnce(10, () => claim("branches", { per_parent: 2 }))).flatMap(Option.toArray)
      const copies = (of: BranchId | null) => found.filter((it) => it.copies === of).length
      assert.deepStrictEqual([copies(parent), copies(another), copies(null)], [2, 2, 1])
      yield* clean(...found.filter((it) => it.copies === parent))
      assert.lengthOf(yield* claimed("branches", { per_parent: 2 }), 2)
      yield* clean(...made)
    }))

  it("a claim of a region leases its operations alone, and limits and turns are those of the region", () =>
    Effect.gen(function* () {
      const [a, b] = [anOrgId(), anOrgId()].toSorted()
      const [a_here, b_here] = [aPlace(a), aPlace(b)]
      const [a_elsewhere, b_elsewhere] = [aPlace(a, elsewhere), aPlace(b, elsewhere)]
      const limits = { per_org: 1 }
      const made = [
        yield* inserted(a_here, "create_branch"),
        yield* inserted(a_here, "create_branch"),
        yield* inserted(b_here, "create_branch"),
        yield* inserted(b_elsewhere, "create_branch"),
        yield* inserted(a_elsewhere, "create_branch")
      ]
      const [first, again, second, third, fourth] = made
      const ids = (found: ReadonlyArray<StoredOperation>) => found.map(({ id }) => id)
      assert.deepStrictEqual(ids(yield* claimed("branches", limits)), [first?.id, second?.id])
      // Organizations have had turns here, and none there, where the order is that of organizations that were never served.
      const there = { ...limits, region_id: elsewhere }
      assert.deepStrictEqual(ids(yield* claimed("branches", there)), [fourth?.id, third?.id])
      if (first !== undefined) yield* finish(first)
      assert.deepStrictEqual(ids(yield* claimed("branches", there)), [])
      assert.deepStrictEqual(ids(yield* claimed("branches", limits)), [again?.id])
      yield* clean(...made)
    }))

  it("a deletion waits neither for the copies of its organization nor for copies of its branch", () =>
    Effect.gen(function* () {
      const place = aPlace()
      const deleted = aBranchId()
      const copies = yield* several(3, place, "create_branch", { copies: deleted })
      assert.lengthOf(yield* claimed("branches", { per_org: 2 }), 2)
      const deletion = yield* inserted(place, "delete_timeline", { branch_id: deleted })
      assert.deepStrictEqual(
        (yield* claimed("deletions", { per_org: 1, per_parent: 1 })).map(({ id }) => id),
        [deletion.id]
      )
      assert.lengthOf(yield* claimed("branches", { per_org: 2 }), 0, "the copies still have their places")
      yield* clean(...copies, deletion)
    }))

  it("deletions of one organization are limited, and deletions of another do not wait for them", () =>
    Effect.gen(function* () {
      const [flood, other] = [aPlace(), aPlace()]
      const many = yield* several(5, flood, "delete_timeline")
      assert.lengthOf(yield* claimed("deletions", { per_org: 2 }), 2)
      const late = yield* inserted(other, "delete_timeline")
      assert.deepStrictEqual(
        (yield* claimed("deletions", { per_org: 2 })).map(({ id }) => id),
        [late.id]
      )
      yield* clean(...many, late)
    }))

  it("a copy is not claimed while the data of its parent is being made", () =>
    Effect.gen(function* () {
      const place = aPlace()
      const parent = aBranchId()
      const making = anOperation(place.project_id, parent, { ...place, action: "create_timeline" })
      yield* (yield* OperationStore).insert(making)
      const copy = yield* inserted(place, "create_branch", { copies: parent })
      const start = anOperation(place.project_id, parent, { ...place, action: "start_compute" })
      yield* (yield* OperationStore).insert(start)
      assert.deepStrictEqual(
        (yield* claimed("branches")).map(({ id }) => id),
        [making.id]
      )
      yield* finish(making)
      assert.deepStrictEqual(
        (yield* claimed("branches")).map(({ id }) => id),
        [copy.id],
        "a start of the parent does not keep the copy waiting"
      )
      yield* clean(copy, start)
    }))

  it("the oldest operation is claimed first, whether new or to be tried again", () =>
    Effect.gen(function* () {
      const place = aPlace()
      const [old] = yield* several(1, place, "apply_config")
      if (old === undefined) return
      yield* (yield* OperationStore).update(new StoredOperation({ ...old, status: "running", retry_at: at(5) }))
      const fresh = yield* several(2, place, "apply_config")
      assert.notStrictEqual(Option.getOrThrow(yield* claim("roles", {}, 4)).id, old.id, "its retry is not due")
      assert.strictEqual(Option.getOrThrow(yield* claim("roles", {}, 5)).id, old.id)
      yield* clean(old, ...fresh)
    }))

  it("a random story of inserts, claims and ends follows the rule of the reference", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const orgs = Array.from({ length: 4 }, () => anOrgId())
      const places = orgs.flatMap((org) =>
        [aPlace(org), aPlace(org), aPlace(org, elsewhere)].map((place) => ({
          place,
          parents: [aBranchId(), aBranchId()]
        }))
      )
      const limits = { class: "branches", per_org: 3, per_parent: 2 } as const
      const rows = new Map<string, StoredOperation>()
      const served = { [here]: new Map<OrgId, number>(), [elsewhere]: new Map<OrgId, number>() }
      const pick = <A>(all: ReadonlyArray<A>) =>
        Effect.map(Random.nextIntBetween(0, all.length - 1), (n) => all[n] as A)
      for (let turn = 0; turn < 150; turn++) {
        const running = [...rows.values()].filter((row) => !isFinal(row.status) && row.lease_owner !== null)
        const step = yield* Random.nextIntBetween(0, 3)
        if (step < 2) {
          const { parents, place } = yield* pick(places)
          const copies = (yield* Random.nextBoolean) ? yield* pick(parents) : null
          const made = yield* inserted(place, "create_branch", { copies })
          rows.set(made.id, made)
        } else if (step === 2 && running.length > 0) {
          const done = yield* pick(running)
          rows.set(done.id, new StoredOperation({ ...done, status: "finished", lease_until: null }))
          yield* finish(done)
        }
        const region_id = yield* pick([here, elsewhere])
        const turns = served[region_id] ?? new Map()
        const wanted = { ...limits, region_id }
        const expected = nextClaim([...rows.values()], at(0), wanted, (org) => turns.get(org) ?? 0)
        const found = yield* store.claim({ ...wanted, worker: "w", now: at(0), lease_until: at(30) })
        assert.strictEqual(Option.getOrUndefined(found)?.id, expected?.id, `turn ${turn}`)
        if (Option.isNone(found)) continue
        rows.set(found.value.id, found.value)
        turns.set(found.value.org_id, found.value.fence)
      }
      yield* clean(...rows.values())
    }))
})
