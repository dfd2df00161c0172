/** A control plane for tests: time that a test moves, and faults that a seed repeats. */
import { assert, describe, it } from "@effect/vitest"
import { noFaults } from "@narthex/core/testing"
import { isNarthexError } from "../src/index.ts"
import { simulate } from "../src/testing.ts"

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
      // What a program without types passes.
      const failure: unknown = await simulate(wrong as object).catch((error: unknown) => error)
      if (!isNarthexError(failure)) return assert.fail(`It was accepted: ${JSON.stringify(wrong)}`)
      assert.strictEqual(failure.code, "invalid_options")
      assert.match(failure.message, says)
    }
  })
})
