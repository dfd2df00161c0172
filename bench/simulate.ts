/**
 * The cost of a test against a simulation: the world, a session, and time that passes in it without events.
 *
 * `node --conditions=source bench/simulate.ts [rounds]`. The bare limits are a control plane in memory, and Effect's own
 * test clock with as many sleeps, of as many fibers, as the simulation ends in the same time.
 */
import { SimulatedTime, Simulation, simulation } from "@narthex/core/testing"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { createControlPlane } from "../packages/narthex/src/index.ts"
import { simulate } from "../packages/narthex/src/testing.ts"
import { ratio } from "./ratios.ts"

const rounds = Number(process.argv[2] ?? 15)

/** Milliseconds of CPU of this process. */
const cpuOf = async (work: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage()
  await work()
  const { system, user } = process.cpuUsage(before)
  return (system + user) / 1_000
}

/** The loops of a simulation that look in its steps, roughly. */
const loops = 15

/** Ends so many sleeps on a bare test clock. */
const bareSleeps = (count: number) =>
  Effect.runPromise(
    Effect.gen(function* () {
      for (let at = 0; at < loops; at++) yield* Effect.forkScoped(Effect.forever(Effect.sleep("1 second")))
      yield* Effect.yieldNow
      yield* TestClock.adjust(`${Math.ceil(count / loops)} seconds`)
    }).pipe(Effect.scoped, Effect.provide(Layer.fresh(TestClock.layer({ warningDelay: "1 hour" }))))
  )

const sleeps = await Effect.runPromise(
  Effect.gen(function* () {
    const { wakeUps } = yield* SimulatedTime
    yield* (yield* Simulation).advance("12 hours")
    return yield* wakeUps
  }).pipe(Effect.provide(simulation()))
)

const round = async () => {
  const plane = await cpuOf(async () => (await createControlPlane({ log: "off" })).close())
  const made = await cpuOf(async () => (await simulate()).close())
  await using world = await simulate()
  const signedIn = await cpuOf(() => world.signIn("ada@example.com"))
  const minutes = await cpuOf(() => world.advance("14 minutes"))
  const hours = await cpuOf(() => world.advance("12 hours"))
  const bare = await cpuOf(() => bareSleeps(sleeps))
  return { plane, made, signedIn, minutes, hours, bare }
}

const first = await round()
const later: Array<Awaited<ReturnType<typeof round>>> = []
for (let at = 0; at < rounds; at++) later.push(await round())
const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
const line = (name: string, of: (it: typeof first) => number) =>
  console.log(`${name}: ${median(later.map(of)).toFixed(1)} ms of CPU, the first ${of(first).toFixed(1)} ms`)

line("a control plane in memory, made and closed", ({ plane }) => plane)
line("a simulation, made and closed", ({ made }) => made)
line("a session", ({ signedIn }) => signedIn)
line("14 minutes", ({ minutes }) => minutes)
line(`12 hours, which end ${sleeps} sleeps`, ({ hours }) => hours)
line("as many sleeps on a bare test clock", ({ bare }) => bare)
ratio("simulate/world-of-control-plane", ...later.map(({ made, plane }) => made / plane))
ratio("simulate/12-hours-of-bare-sleeps", ...later.map(({ bare, hours }) => hours / bare))
