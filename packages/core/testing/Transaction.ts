/**
 * The contract of `Transaction`, with a store whose rows it covers. The contract of `EventLog` has what concerns
 * events.
 */
import { Deferred, Effect, Fiber, Option, Schema } from "effect"
import type { OrgId } from "../src/Ids.ts"
import { AccountStore } from "../src/records/accounts/AccountStore.ts"
import { Transaction } from "../src/Transaction.ts"
import { assert } from "./assert.ts"
import { contract } from "./contract.ts"
import { anOrganization } from "./records.ts"
import { atOnce } from "./together.ts"

class Refused extends Schema.TaggedError<Refused>()("Refused", {}) {}

/** Stores a new organization, and returns its id. */
const stored = Effect.gen(function* () {
  const organization = anOrganization()
  yield* (yield* AccountStore).putOrganization(organization)
  return organization.id
})

const exists = (org: OrgId) =>
  Effect.flatMap(AccountStore, (store) => Effect.map(store.findOrganization(org), Option.isSome))

/** A transaction that is open: it has stored an organization, and ends when `end` is called. */
const opened = Effect.gen(function* () {
  const { run } = yield* Transaction
  const [inside, ending] = [yield* Deferred.make<OrgId>(), yield* Deferred.make<void, Refused>()]
  const fiber = yield* Effect.forkChild(
    run(
      Effect.gen(function* () {
        yield* Deferred.succeed(inside, yield* stored)
        yield* Deferred.await(ending)
      })
    )
  )
  return { org: yield* Deferred.await(inside), ending, fiber }
})

export const transactionContract = contract<AccountStore | Transaction>("Transaction", (it) => {
  it("a transaction that fails, dies or is interrupted leaves nothing, and the next one commits", () =>
    Effect.gen(function* () {
      const { run } = yield* Transaction
      const orgs: Array<OrgId> = []
      const storing = Effect.map(stored, (org) => orgs.push(org))
      yield* Effect.exit(run(Effect.andThen(storing, Effect.fail(new Refused()))))
      yield* Effect.exit(run(Effect.andThen(storing, Effect.die("a defect"))))
      const { fiber, org } = yield* opened
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* Effect.forEach([...orgs, org], exists), [false, false, false])
      assert.isTrue(yield* exists(yield* run(stored)))
    }))

  it("changes outside of a transaction are not part of it", () =>
    Effect.gen(function* () {
      const { ending, fiber, org } = yield* opened
      // A store with one connection lets it wait until the transaction ends.
      const outside = yield* Effect.forkChild(stored, { startImmediately: true })
      const reading = yield* Effect.forkChild(exists(org), { startImmediately: true })
      yield* Deferred.fail(ending, new Refused())
      yield* Effect.exit(Fiber.join(fiber))
      assert.isTrue(yield* exists(yield* Fiber.join(outside)), "it was undone with the transaction")
      assert.isFalse(yield* Fiber.join(reading), "it saw what was never committed")
    }))

  it("a transaction inside another commits with it or not at all", () =>
    Effect.gen(function* () {
      const { run } = yield* Transaction
      const both = run(Effect.andThen(run(stored), (inner) => Effect.map(run(stored), (outer) => [inner, outer])))
      assert.deepStrictEqual(yield* Effect.forEach(yield* both, exists), [true, true])
      const orgs: Array<OrgId> = []
      const inner = run(Effect.map(stored, (org) => orgs.push(org)))
      yield* Effect.exit(run(Effect.andThen(inner, Effect.fail(new Refused()))))
      assert.deepStrictEqual(yield* Effect.forEach(orgs, exists), [false])
    }))

  it("the fibers that a transaction waits for share it", () =>
    Effect.gen(function* () {
      const { run } = yield* Transaction
      const orgs: Array<OrgId> = []
      const several = atOnce(5, () => Effect.map(stored, (org) => orgs.push(org)))
      yield* Effect.exit(run(Effect.andThen(several, Effect.fail(new Refused()))))
      assert.deepStrictEqual(yield* Effect.forEach(orgs, exists), [false, false, false, false, false])
      assert.lengthOf(yield* run(several), 5)
      assert.deepStrictEqual(yield* Effect.forEach(orgs.slice(5), exists), [true, true, true, true, true])
    }))

  it("work after a commit sees what was committed, does not run after a rollback, and undoes nothing", () =>
    Effect.gen(function* () {
      const { afterCommit, run } = yield* Transaction
      const notes: Array<string> = []
      const note = (text: string) => Effect.sync(() => notes.push(text)).pipe(Effect.asVoid)
      const inside = Effect.gen(function* () {
        const org = yield* stored
        const seen = Effect.provideService(
          Effect.flatMap(exists(org), (it) => note(`stored ${it}`)),
          AccountStore,
          yield* AccountStore
        )
        yield* run(afterCommit(Effect.orDie(seen)))
        yield* note("inside")
        return org
      })
      yield* run(inside)
      assert.deepStrictEqual(notes.splice(0), ["inside", "stored true"])
      yield* Effect.exit(run(Effect.andThen(inside, Effect.fail(new Refused()))))
      assert.deepStrictEqual(notes.splice(0), ["inside"])
      yield* afterCommit(note("at once"))
      assert.deepStrictEqual(notes, ["at once"])

      const orgs: Array<OrgId> = []
      const refused = Effect.andThen(
        Effect.map(stored, (org) => orgs.push(org)),
        afterCommit(Effect.fail(new Refused()))
      )
      assert.isTrue((yield* Effect.flip(run(refused))) instanceof Refused)
      assert.deepStrictEqual(yield* Effect.forEach(orgs, exists), [true])
    }))
})
