/** The storm over regions: tenants work in each while its runners are killed and stopped. Then everything is inspected. */
import { assert } from "@effect/vitest"
import { Database } from "@narthex/postgres"
import { Effect, Fiber } from "effect"
import { eventually } from "../../harness/eventually.ts"
import { note } from "../../harness/note.ts"
import { processesIn } from "../../support/processesIn.ts"
import { blow } from "./blow.ts"
import { inspect, wrongOperations } from "./inspection.ts"
import { kills, limit, type StormRegion } from "./StormRegion.ts"
import { type Expected, tenant } from "./tenant.ts"

/** Completes after the kills, once the work of the tenants has ended. Returns what the databases must have. */
const storming = (region: StormRegion, names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const expected: Expected = new Map()
    let over = false
    const tenants = yield* Effect.forkChild(
      Effect.forEach(names, (name) => tenant(region, `${name}-${region.region}`, () => over, expected), {
        concurrency: "unbounded"
      })
    )
    const storm = yield* Effect.forkChild(
      Effect.ensuring(
        blow(region, kills),
        Effect.sync(() => (over = true))
      )
    )
    // Without a tenant the runners would have nothing to do, and the storm would wait for them.
    const counts = yield* Effect.raceFirst(
      Fiber.join(storm),
      Effect.flatMap(Fiber.join(tenants), () => Effect.never)
    )
    yield* Fiber.join(tenants)
    note(
      `storm in ${region.region}: ${counts.killed} kills, of them ${counts.stopped} of stopped runners; ` +
        `${counts.paused} runners went on after their leases`
    )
    return expected
  })

/** `names`: the tenants of each region. */
export const weather = (regions: ReadonlyArray<StormRegion>, names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const expected = yield* Effect.forEach(regions, (region) => storming(region, names), { concurrency: "unbounded" })
    const { query } = yield* Database
    yield* eventually(
      "every operation to be final, and its event to be in the log",
      Effect.map(
        query(
          "test",
          `select 1 from narthex.operation where status in ('scheduling', 'running', 'cancelling')
           union all select 1 from narthex.event_outbox limit 1`
        ),
        (rows) => rows.length === 0
      ),
      { every: 100, limit }
    )
    const runners = regions.flatMap((region) => region.runners)
    yield* Effect.promise(() => Promise.all(runners.map((runner) => runner.kill())))
    const { count, wrong } = yield* wrongOperations
    assert.deepStrictEqual(wrong, [])
    note(`storm: ${count} operations`)
    for (const [at, region] of regions.entries()) {
      yield* Effect.scoped(inspect(region, expected[at] ?? new Map()))
      // The last of them may still be exiting.
      yield* eventually(
        "the end of every server",
        Effect.sync(() => processesIn(region.dataDir).length === 0),
        { every: 50, limit }
      )
    }
  })
