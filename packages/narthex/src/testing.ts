/**
 * A control plane for tests: in memory, on a clock that the test moves, with faults that a seed repeats
 * (docs/how-to/simulate.md). Everything else is what `createControlPlane` makes.
 */
import type { SessionJson } from "@narthex/api"
import { type Faults, SimulatedTime, simulatedParts } from "@narthex/core/testing"
import { Clock, Duration, Effect, Exit, Layer, Predicate, Scope } from "effect"
import { type ControlPlane, startControlPlane } from "./ControlPlane.ts"
import { invalidOptions } from "./failures/failures.ts"
import { expecting, isRecord, objectOf, optional, problemOf } from "./failures/forms.ts"
import { makeSimulatedFollow, type SimulatedFollow } from "./host/simulatedFollow.ts"
import type { ControlPlaneOptions } from "./options/ControlPlaneOptions.ts"

export type { SimulatedFollow, SimulatedFollowing, SimulatedSubscriber } from "./host/simulatedFollow.ts"

export interface SimulateOptions extends Omit<ControlPlaneOptions, "computes" | "identity" | "storage"> {
  /** Two simulations with one seed choose the same faults and ids. Default: 1. */
  readonly seed?: number
  /** The faults, and how often each occurs; left out: as in `defaultFaults` of `@narthex/core/testing`. */
  readonly faults?: Partial<Faults>
}

export interface SimulatedControlPlane extends ControlPlane {
  /**
   * Lets time pass, such as `"14 minutes"`, and resolves when everything that was due has run. A timer is late by a
   * step at most, which is 1/60 of the time unless given; loops rest for up to four while nothing happens, unless it is.
   */
  readonly advance: (time: Duration.Input, step?: Duration.Input) => Promise<void>
  /** The time of the clock, which stands still until `advance`. */
  readonly now: () => Date
  /** Begins a session of the person with this verified address. The first one makes the account. */
  readonly signIn: (email: string) => Promise<SessionJson>
  /**
   * Opens an event stream for a session or an API key. Its reader can be paused, so that it is slow: with a small
   * `buffer` and `events: { ring_events }` in the options, few events make it overflow. Rejects as the API refuses.
   */
  readonly follow: SimulatedFollow
  /** The client of a control plane. It repeats no call unless the options say so: real time would pass. */
  readonly client: ControlPlane["client"]
}

const part = expecting("a number from 0 to 1", (it) => Predicate.isNumber(it) && it >= 0 && it <= 1)
const faultsForm = optional(
  objectOf<Faults>({
    compute: optional(part),
    compute_delay: optional(expecting("a Duration of Effect such as Duration.seconds(5)", Duration.isDuration)),
    storage: optional(part)
  })
)
const optionsForm = expecting("an object", isRecord)
const seedForm = optional(expecting("a whole number", Number.isInteger))

/** The options, unless one is wrong that `createControlPlane` does not get. */
const checked = (options: SimulateOptions): SimulateOptions => {
  const replaced = ["storage", "computes", "identity"].find((name) => name in Object(options))
  const problem =
    replaced === undefined
      ? (problemOf("options", options, optionsForm) ??
        problemOf("seed", options.seed, seedForm) ??
        problemOf("faults", options.faults, faultsForm))
      : `${replaced}: a simulation brings its own. Use createControlPlane to test with another one.`
  if (problem !== undefined) throw invalidOptions(problem)
  return options
}

/**
 * Makes a control plane for a test. No real time passes in it.
 *
 * @example
 * import { simulate } from "narthex/testing"
 * await using world = await simulate({ seed: 7 })
 * const client = world.client(await world.signIn("ada@example.com"))
 * await world.advance("14 minutes")
 */
export const simulate = async (given: SimulateOptions = {}): Promise<SimulatedControlPlane> => {
  const { faults = {}, seed = 1, ...options } = checked(given)
  const parts = simulatedParts(seed, faults)
  const scope = Scope.makeUnsafe()
  const world = await Effect.runPromise(Layer.buildWithScope(Layer.merge(SimulatedTime.layer, parts.references), scope))
  const inWorld = Layer.succeedContext(world)
  const { plane, run } = await startControlPlane({
    log: "off",
    ...options,
    // The services stand on storage, so they run on the clock that comes with it.
    storage: { durable: false, layer: Layer.provideMerge(Layer.fresh(parts.storage), inWorld) },
    computes: Layer.provide(parts.computes, inWorld),
    identity: Layer.provide(parts.identity, inWorld)
  })
  // The control plane refuses options that are no object.
  const client: ControlPlane["client"] = (credential, rest = {}) =>
    plane.client(credential, isRecord(rest) ? { retries: false, ...rest } : rest)
  const inTime = <A>(use: (time: SimulatedTime["Service"]) => Effect.Effect<A>) =>
    Effect.runPromise(Effect.provideContext(Effect.flatMap(SimulatedTime, use), world))

  const advance = (time: Duration.Input, step?: Duration.Input) => inTime((it) => it.advance(time, step))
  /** The end may wait for streams and calls on the clock of the simulation, so time passes until it is reached. */
  const ended = async () => {
    let open = true
    const closed = plane.close().finally(() => {
      open = false
    })
    while (open) await advance("1 second")
    await closed
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= ended()
    return closing
  }

  return {
    ...plane,
    advance,
    now: () => new Date(Effect.runSync(Effect.provideContext(Clock.currentTimeMillis, world))),
    signIn: (email) => client().auth.exchange({ id_token: email }),
    follow: makeSimulatedFollow(run),
    client,
    close,
    [Symbol.asyncDispose]: close
  }
}
