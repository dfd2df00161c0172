/**
 * The contract of `OperationStore.claim` where several operations are due: classes, limits and fairness. Run it against
 * every adapter with a fresh layer, because claims see every operation.
 */
import { Effect, Option, Random } from "effect"
import { AccountStore } from "../../src/accounts/AccountStore.ts"
import type { BranchId, OrgId } from "../../src/Ids.ts"
import { nextClaim, turnsOf } from "../../src/operations/nextClaim.ts"
import { OperationAction as Actions, isFinal, StoredOperation } from "../../src/operations/Operation.ts"
import { classOf, OperationClass } from "../../src/operations/OperationClass.ts"
import { OperationStore } from "../../src/operations/OperationStore.ts"
import type { QuotaStore } from "../../src/quotas/QuotaStore.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aBranchId, anOperation, anOrgId, at, aUserId } from "../records.ts"
import { atOnce } from "../together.ts"
import {
  aPlace,
  claim,
  claimed,
  clean,
  finish,
  founded,
  inserted,
  owns,
  type Place,
  personal,
  several
} from "./claimFixtures.ts"

/** Whether the organizations of these places share one limit, which is that they count for one person. */
const shareTheirLimit = Effect.fnUntraced(function* (one: Place, other: Place) {
  const made = yield* Effect.forEach([one, other], (place) => inserted(place, "start_compute"))
  const found = yield* claimed("computes", { per_org: 1 })
  yield* clean(...made)
  return found.length === 1
})

type Ports = AccountStore | OperationStore | QuotaStore | Transaction

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

  it("organizations take turns, however many operations one of them has queued first", () =>
    Effect.gen(function* () {
      const [flood, other] = [aPlace(), aPlace()]
      const many = yield* several(12, flood, "create_branch")
      const few = yield* several(3, other, "create_branch")
      const order: Array<string> = []
      for (let n = 0; n < 6; n++) {
        const found = Option.getOrThrow(yield* claim("branches"))
        order.push(found.org_id)
        yield* finish(found)
      }
      assert.deepStrictEqual(
        order,
        [flood, other, flood, other, flood, other].map(({ org_id }) => org_id)
      )
      yield* clean(...many, ...few)
    }))

  it("the organization with the fewest claimed operations comes first", () =>
    Effect.gen(function* () {
      const [busy, quiet] = [aPlace(), aPlace()]
      const first = yield* several(4, busy, "start_compute")
      assert.lengthOf(yield* claimed("computes", { per_org: 3 }), 3)
      const late = yield* several(2, quiet, "start_compute")
      const found = yield* claimed("computes", { per_org: 5 })
      assert.deepStrictEqual(
        found.map(({ org_id }) => org_id),
        [quiet, quiet, busy].map(({ org_id }) => org_id)
      )
      yield* clean(...first, ...late)
    }))

  it("the organizations of a person take one turn between them, the personal one included", () =>
    Effect.gen(function* () {
      const ada = aUserId()
      const hers = [yield* founded(ada), yield* founded(ada), yield* personal(ada)]
      const other = aPlace()
      const made = yield* Effect.forEach([...hers, other], (place) => several(4, place, "create_branch"))
      const order: Array<OrgId> = []
      for (let n = 0; n < 8; n++) {
        const found = Option.getOrThrow(yield* claim("branches"))
        order.push(found.org_id)
        yield* finish(found)
      }
      const whose = order.map((org) => (org === other.org_id ? "other" : "hers"))
      const turns = Array.from({ length: 4 }, () => [...new Set(whose.slice(0, 2))])
      assert.deepStrictEqual(whose, turns.flat())
      const own = order.filter((org) => org !== other.org_id)
      assert.sameMembers(
        own.slice(0, 3),
        hers.map(({ org_id }) => org_id)
      )
      assert.strictEqual(own[3], own[0], "and of these the one that was served least recently is next")
      yield* clean(...made.flat())
    }))

  it("the organizations of a person share the limit of a class, on all workers together", () =>
    Effect.gen(function* () {
      const ada = aUserId()
      const hers = [yield* founded(ada), yield* founded(ada), yield* personal(ada)]
      const made = (yield* Effect.forEach(hers, (place) => several(4, place, "create_branch"))).flat()
      const found = (yield* atOnce(8, () => claim("branches", { per_org: 4 }))).flatMap(Option.toArray)
      assert.lengthOf(found, 4)
      assert.strictEqual(new Set(found.map(({ org_id }) => org_id)).size, 3)
      yield* clean(...found.slice(0, 1))
      assert.lengthOf(yield* claimed("branches", { per_org: 4 }), 1)
      const other = yield* several(1, aPlace(), "create_branch")
      assert.lengthOf(yield* claimed("branches", { per_org: 4 }), 1, "another organization does not wait for them")
      yield* clean(...made, ...other)
    }))

  it("an organization counts for its founder while that is an owner, then for the owner of longest standing", () =>
    Effect.gen(function* () {
      const [ada, bob, carol] = [aUserId(), aUserId(), aUserId()]
      const [team, adas, bobs, carols] = [
        yield* founded(ada),
        yield* personal(ada),
        yield* personal(bob),
        yield* personal(carol)
      ]
      yield* owns(team.org_id, bob, -2, "admin")
      yield* owns(team.org_id, carol, -1)
      const shares = Effect.forEach([adas, bobs, carols], (place) => shareTheirLimit(team, place))
      assert.deepStrictEqual(yield* shares, [true, false, false])
      yield* owns(team.org_id, ada, -9, "member")
      assert.deepStrictEqual(yield* shares, [false, false, true], "the founder is no owner")
      yield* owns(team.org_id, bob, -2)
      assert.deepStrictEqual(yield* shares, [false, true, false])
      for (const user of [ada, bob, carol]) yield* (yield* AccountStore).removeMembership(team.org_id, user)
      assert.deepStrictEqual(yield* shares, [false, false, false], "it has no owner")
      yield* owns(adas.org_id, bob, -9)
      assert.isFalse(yield* shareTheirLimit(adas, bobs), "a personal organization is its person's")
    }))

  it("projects of an organization take turns", () =>
    Effect.gen(function* () {
      const one = aPlace()
      const other = aPlace(one.org_id)
      const made = [...(yield* several(4, one, "apply_config")), ...(yield* several(2, other, "apply_config"))]
      assert.deepStrictEqual(
        (yield* claimed("roles")).map(({ project_id }) => project_id),
        [one, other, one, other, one, one].map(({ project_id }) => project_id)
      )
      yield* clean(...made)
    }))

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

  it("copies of one branch are limited, and those of another branch do not wait for them", () =>
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

  it("deletions of one organization are limited, and those of another do not wait for them", () =>
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

  it("of operations that are tried again and new ones, the oldest comes first", () =>
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
      const ada = aUserId()
      const orgs = [(yield* founded(ada)).org_id, (yield* founded(ada)).org_id, anOrgId(), anOrgId()]
      const person = (org: OrgId) => (orgs.slice(0, 2).includes(org) ? ada : org)
      const places = orgs.flatMap((org) =>
        [aPlace(org), aPlace(org)].map((place) => ({ place, parents: [aBranchId(), aBranchId()] }))
      )
      const limits = { class: "branches", per_org: 3, per_parent: 2 } as const
      const rows = new Map<string, StoredOperation>()
      const served = new Map<string, number>()
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
        const expected = nextClaim([...rows.values()], at(0), limits, (turn) => served.get(turn) ?? 0, person)
        const found = yield* store.claim({ ...limits, worker: "w", now: at(0), lease_until: at(30) })
        assert.strictEqual(Option.getOrUndefined(found)?.id, expected?.id, `turn ${turn}`)
        if (Option.isNone(found)) continue
        rows.set(found.value.id, found.value)
        for (const turn of turnsOf(found.value, person)) served.set(turn, found.value.fence)
      }
      yield* clean(...rows.values())
    }))
})
