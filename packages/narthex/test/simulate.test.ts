/** A control plane for tests: time that a test moves, and faults that a seed repeats. */
import { assert, describe, it } from "@effect/vitest"
import { noFaults } from "@narthex/core/testing"
import { Schema } from "effect"
import { isNarthexError } from "../src/index.ts"
import { type SimulatedSubscriber, simulate } from "../src/testing.ts"

const invoicePaid = "invoice.paid.v1"
const withInvoices = { eventTypes: { [invoicePaid]: Schema.Struct({ number: Schema.Finite }) } }

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)

const numbersOf = ({ received }: SimulatedSubscriber) =>
  received.filter(({ type }) => type === invoicePaid).map(({ data }) => data["number"])

describe("a simulated control plane", () => {
  it("at minute 16 the token is refreshed, and at hour 12 it is not", async () => {
    await using world = await simulate({ seed: 7 })
    const session = await world.signIn("ada@example.com")
    const refreshed: Array<unknown> = []
    const client = world.client(session, { onRefresh: ({ access_token }) => void refreshed.push(access_token) })
    await client.regions.list()
    await world.advance("14 minutes")
    await client.regions.list()
    assert.lengthOf(refreshed, 0)
    await world.advance("2 minutes")
    await client.regions.list()
    assert.lengthOf(refreshed, 1)
    await world.advance("12 hours")
    const refusal: unknown = await client.regions.list().then(
      () => undefined,
      (error: unknown) => error
    )
    assert.deepInclude(refusal, { code: "sign_in_required", status: 401 })
  })

  it("operations finish as time passes, and the clock is that of the test", async () => {
    await using world = await simulate({ seed: 3 })
    assert.strictEqual(world.now().toISOString(), "2026-01-01T00:00:00.000Z")
    const client = world.client(await world.signIn("ada@example.com"))
    const { operations, project } = await client.projects.create({ name: "shop" })
    assert.strictEqual(project.created_at, "2026-01-01T00:00:00.000Z")
    assert.deepStrictEqual(
      operations.map(({ status }) => status),
      ["scheduling"]
    )
    await world.advance("10 minutes")
    const { operations: later } = await client.operations.list({ project_id: project.id })
    assert.deepStrictEqual(
      later.map(({ status }) => status),
      ["finished"]
    )
  })

  it("a subscriber that is paused gets an overflow with the number of events that it missed", async () => {
    await using world = await simulate({ ...withInvoices, events: { ring_events: 64 } })
    const session = await world.signIn("ada@example.com")
    const { org_id } = await world.authenticate(session.access_token)
    const slow = await world.follow(session, { buffer: 1_000, types: [invoicePaid] })
    const quick = await world.follow(session)
    const paid = async (from: number, to: number) => {
      for (let number = from; number < to; number++)
        await world.events.publish({ org_id, type: invoicePaid, data: { number } })
      await world.advance("1 second")
    }
    slow.pause()
    await paid(0, 150)
    slow.resume()
    assert.strictEqual(await slow.ended, "overflow")
    const overflow = slow.received.at(-1)
    assert.strictEqual(overflow?.type, "overflow.v1")
    const read = numbersOf(slow)
    assert.deepStrictEqual(read, range(0, read.length))
    const dropped = Number(overflow?.data["dropped"])
    assert.isAbove(dropped, 0)

    // The slow reader comes back with the id of the overflow, and gets every later event.
    const again = await world.follow(session, { last_event_id: overflow?.id ?? "" })
    await paid(150, 153)
    assert.deepStrictEqual(numbersOf(again), range(read.length + dropped, 153))
    assert.deepStrictEqual(numbersOf(quick), range(0, 153))
    assert.isUndefined(quick.closing)
  })

  it("a subscriber of a project reads its events alone, until it closes or its control plane does", async () => {
    await using world = await simulate(withInvoices)
    const session = await world.signIn("ada@example.com")
    const { org_id } = await world.authenticate(session.access_token)
    const { project } = await world.client(session).projects.create({ name: "shop" })
    const [one, other] = [{ project_id: project.id, types: [invoicePaid] }, { types: [invoicePaid] }]
    const [ofProject, ofAll] = [await world.follow(session, one), await world.follow(session, other)]
    await world.events.publish({ org_id, type: invoicePaid, data: { number: 1 } })
    await world.events.publish({ org_id, project_id: project.id, type: invoicePaid, data: { number: 2 } })
    await world.advance("1 second")
    assert.deepStrictEqual([numbersOf(ofProject), numbersOf(ofAll)], [[2], [1, 2]])
    ofProject.close()
    assert.strictEqual(await ofProject.ended, "client_gone")
    await world.close()
    await ofAll.ended
    assert.strictEqual(await ofAll.ended, "draining")
    assert.strictEqual(ofAll.closing, "draining")
  })

  it("a stream that the API would refuse is refused with its code", async () => {
    await using world = await simulate()
    const session = await world.signIn("ada@example.com")
    const foreign = await world.client(await world.signIn("eve@example.com")).projects.create({ name: "shop" })
    const refusals: ReadonlyArray<readonly [follow: () => Promise<unknown>, code: string]> = [
      [() => world.follow("nsk_none"), "invalid_token"],
      [() => world.follow(session, { project_id: foreign.project.id }), "not_found"],
      [() => world.follow(session, { buffer: 0 }), "invalid_input"]
    ]
    for (const [follow, code] of refusals) {
      const refusal: unknown = await follow().catch((error: unknown) => error)
      assert.strictEqual(isNarthexError(refusal) ? refusal.code : refusal, code)
    }
  })

  it("storage that fails as a seed has it answers 503, and the same seed fails the same calls", async () => {
    const story = async (seed: number) => {
      await using world = await simulate({ seed, faults: { ...noFaults, storage: 0.5 } })
      const outcomes: Array<number> = []
      for (let n = 0; n < 12; n++)
        outcomes.push(
          await world.signIn(`user${n}@example.com`).then(
            () => 200,
            (error: { readonly status: number }) => error.status
          )
        )
      return outcomes
    }
    const first = await story(11)
    assert.sameMembers([...new Set(first)], [200, 503])
    assert.deepStrictEqual(await story(11), first)
  })

  it("an option of a simulation that does not fit is refused by its name", async () => {
    const wrongs: ReadonlyArray<readonly [wrong: object | null, says: RegExp]> = [
      [null, /^options: expected an object/],
      [{ storage: {} }, /^storage: a simulation brings its own/],
      [{ identity: [] }, /^identity: a simulation brings its own/],
      [{ seed: "7" }, /^seed: expected a whole number/],
      [{ faults: { storages: 1 } }, /^faults\.storages: there is no such member/],
      [{ faults: { storage: 5 } }, /^faults\.storage: expected a number from 0 to 1/],
      [{ seeds: 7 }, /^seeds: there is no such option/]
    ]
    for (const [wrong, says] of wrongs) {
      // A program without types may pass these.
      const failure: unknown = await simulate(wrong as object).catch((error: unknown) => error)
      if (!isNarthexError(failure)) return assert.fail(`It was accepted: ${JSON.stringify(wrong)}`)
      assert.strictEqual(failure.code, "invalid_options")
      assert.match(failure.message, says)
    }
  })
})
