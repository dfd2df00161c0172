/** The blows of the storm: kill -9, SIGSTOP and SIGCONT, at random moments. */
import { Database } from "@narthex/postgres"
import { Effect, Random } from "effect"
import { eventually } from "../../harness/eventually.ts"
import { limit, type StormRegion } from "./StormRegion.ts"
import type { StormRunner } from "./StormRunner.ts"

/** How many claims the runners of the region have made, and how many operations they have ended. */
const progressOf = ({ region }: StormRegion) =>
  Effect.flatMap(Database, ({ query }) =>
    Effect.map(
      query<{ readonly claims: string; readonly ended: string }>(
        "test",
        "select coalesce(max(fence), 0) as claims, count(finished_at) as ended from narthex.operation where region_id = $1",
        [region]
      ),
      ([row]) => ({ claims: Number(row?.claims ?? 0), ended: Number(row?.ended ?? 0) })
    )
  )

/**
 * Stops a runner until its leases have lapsed, and continues it before the standbys lose patience: what it does then is
 * late, and has no effect unless it claims the operation again.
 */
const pause = ({ region }: StormRegion, runner: StormRunner) =>
  Effect.gen(function* () {
    const { query } = yield* Database
    runner.signal("SIGSTOP")
    yield* eventually(
      "the leases of a stopped runner to lapse",
      Effect.map(
        query("test", "select 1 from narthex.operation where lease_until > now() and region_id = $1 limit 1", [region]),
        (leased) => leased.length === 0 || !runner.alive
      ),
      { every: 20, limit }
    )
    runner.signal("SIGCONT")
  })

/**
 * Kills or stops runners of the region, one after another, and starts those that are gone. On average, a third of the blows fall at
 * once, a third a moment after a claim, and a third a moment after an operation has ended. So work goes on, however
 * slow the machine is.
 */
export const blow = Effect.fnUntraced(function* (region: StormRegion, kills: number) {
  const { runners } = region
  const progress = progressOf(region)
  const counts = { killed: 0, stopped: 0, paused: 0 }
  while (counts.killed < kills) {
    yield* eventually(
      "a runner to hold the directory",
      Effect.sync(() => runners.some((it) => it.holds)),
      { every: 20, limit }
    )
    const before = yield* progress
    const awaited = yield* Random.nextIntBetween(0, 2)
    yield* eventually(
      "runners to claim or to end an operation",
      Effect.map(
        progress,
        ({ claims, ended }) =>
          awaited === 0 || (awaited === 1 && claims > before.claims) || (awaited === 2 && ended > before.ended)
      ),
      { every: 20, limit }
    )
    yield* Effect.sleep(yield* Random.nextIntBetween(0, 500))
    const holder = runners.find((it) => it.holds)
    const any = runners[yield* Random.nextIntBetween(0, runners.length, { halfOpen: true })]
    const stops = counts.killed % 3 === 1
    if (counts.killed % 3 === 2 && holder !== undefined) {
      counts.paused += 1
      yield* pause(region, holder)
    }
    const victim = stops || (yield* Random.nextIntBetween(0, 3)) > 0 ? holder : any
    if (victim === undefined) continue
    counts.killed += 1
    if (stops) {
      // For longer than the standbys' patience, so it is killed. It continues, if it still can.
      counts.stopped += 1
      victim.signal("SIGSTOP")
      yield* eventually(
        "a standby to take over from a stopped runner",
        Effect.sync(() => !victim.alive || runners.some((it) => it !== victim && it.holds)),
        { every: 50, limit }
      )
      victim.signal("SIGCONT")
    } else yield* Effect.promise(() => victim.kill())
    for (const runner of runners) if (!runner.alive) runner.start()
  }
  return counts
})
