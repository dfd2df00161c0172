/** The deadline of a wait, by the clock of the effect: for tests on the machine's clock. */
import { Effect } from "effect"

/** Seconds. Generous, so that a loaded machine does not fail a test. */
const limit = 45

export const soon = <A, E, R>(what: string, it: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.timeoutOrElse(it, {
    duration: `${limit} seconds`,
    orElse: () => Effect.die(new Error(`Waited ${limit} s for ${what}.`))
  })
