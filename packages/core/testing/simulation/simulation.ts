/**
 * The whole platform in memory, on a clock that a test moves, with faults that a seed repeats.
 *
 * Everything but people is as in production: services, the runner and its loops, purging, the event feed and the
 * streams. Ids and secrets come from the seed too, so a seed gives the same run, event by event, as long as a test does
 * one thing after another.
 */
import { Context, type Duration, Effect, Layer, Redacted, References, Scheduler } from "effect"
import { layerRunner, layerServices } from "../../src/CoreServices.ts"
import { type ProjectId, RegionId } from "../../src/Ids.ts"
import { defaultEventSettings, EventSettings } from "../../src/records/events/EventSettings.ts"
import { RegionCatalog } from "../../src/records/regions/RegionCatalog.ts"
import { TokenSigner } from "../../src/records/sessions/TokenSigner.ts"
import type { AnyCaller } from "../../src/rules/authorization/Principal.ts"
import { streamRightOf } from "../../src/services/access/streamAuthority.ts"
import { EventStreams } from "../../src/services/events/streams/EventStreams.ts"
import { Sessions } from "../../src/services/sign-in/Sessions.ts"
import type { Faults } from "./faults.ts"
import { SimulatedTime } from "./SimulatedTime.ts"
import { SimulatedConnection, type Subscriber } from "./Subscriber.ts"
import { simulatedParts } from "./simulatedParts.ts"

export interface SimulationOptions {
  /** Two simulations with one seed are the same. Default: 1. */
  readonly seed?: number
  /** The faults and their frequencies. A member that is left out is as in `defaultFaults`; `noFaults` has none. */
  readonly faults?: Partial<Faults>
  /** The regions of the catalog, the first of them the default. Default: `local`. */
  readonly regions?: ReadonlyArray<string>
  /** Settings of event streams, for example a smaller ring. The rest is as in `defaultEventSettings`. */
  readonly events?: Partial<EventSettings>
}

export interface FollowOptions {
  /** Only events of this project; left out: of the whole organization. */
  readonly project_id?: ProjectId
  /** Only these types; left out: all. */
  readonly types?: ReadonlyArray<string>
  /** The position to resume behind, as in the header `Last-Event-ID`. */
  readonly last_event_id?: string
  /** Bytes that the connection holds while its client does not read. Default: 16 KiB. */
  readonly buffer?: number
}

const make = Effect.gen(function* () {
  const { advance } = yield* SimulatedTime
  const sessions = yield* Sessions
  const streams = yield* EventStreams
  const dispatcher = (yield* Scheduler.Scheduler).makeDispatcher()

  return {
    advance,
    signIn: (email: string) =>
      sessions.exchange(
        { id_token: Redacted.make(email), provider: null, nonce: null },
        { user_agent: "Simulation/1", address: "203.0.113.9" }
      ),
    follow: Effect.fnUntraced(function* (caller: AnyCaller, options: FollowOptions = {}) {
      const { buffer = 16 * 1024, last_event_id, project_id = null, types = [] } = options
      const connection = new SimulatedConnection(buffer, (task) => dispatcher.scheduleTask(task, 0))
      const { close, ended } = yield* streams.subscribe({
        ...streamRightOf(caller, project_id),
        types,
        bookmarks: false,
        last_event_id,
        open: () => connection
      })
      const subscriber: Subscriber = {
        received: connection.received,
        get closing() {
          return connection.closing
        },
        pause: Effect.sync(() => connection.pause()),
        resume: Effect.sync(() => connection.resume()),
        ended,
        close
      }
      return subscriber
    })
  }
})

/** A simulation: its time, its people and its subscribers. The services of the core are beside it in the context. */
export class Simulation extends Context.Service<
  Simulation,
  {
    /**
     * Lets time pass, and is done when everything that was due has run: operations, suspensions, purging, heartbeats. A
     * timer is late by a step at most, which is 1/60 of the time unless given; loops rest for up to four while nothing
     * happens, unless it is.
     */
    readonly advance: (time: Duration.Input, step?: Duration.Input) => Effect.Effect<void>
    /** Begins a session of the person with this verified address. The first one makes the account. */
    readonly signIn: (email: string) => ReturnType<Sessions["Service"]["exchange"]>
    /** Opens an event stream as a client of the API does. */
    readonly follow: (
      caller: AnyCaller,
      options?: FollowOptions
    ) => Effect.Effect<Subscriber, Effect.Error<ReturnType<EventStreams["Service"]["subscribe"]>>>
  }
>()("@narthex/core/testing/Simulation") {}

const world = ({ events = {}, faults = {}, regions = ["local"], seed = 1 }: SimulationOptions) => {
  const { computes, digester, identity, references, storage } = simulatedParts(seed, faults)
  const Settings = Layer.succeed(EventSettings, { ...defaultEventSettings, ...events })
  const Seeds = Layer.effectDiscard(
    Effect.flatMap(RegionCatalog, (catalog) => catalog.seed(regions.map((id) => RegionId.make(id))))
  )
  return Layer.effect(Simulation, make).pipe(
    Layer.provideMerge(Layer.mergeAll(layerRunner, Seeds)),
    Layer.provideMerge(layerServices),
    Layer.provideMerge(Layer.mergeAll(storage, computes, identity, digester, TokenSigner.layerMemory)),
    // Loops report what the faults did to them; tests observe what comes of it.
    Layer.provide(Layer.succeed(References.MinimumLogLevel, "None")),
    Layer.provideMerge(Layer.mergeAll(references, Settings, SimulatedTime.layer))
  )
}

/**
 * A layer with the services of the core, `Simulation`, and the clock that both run on.
 *
 * Every build is another world, so one layer serves many tests: each that provides it begins at the beginning.
 *
 * @example
 * import { Simulation, simulation } from "@narthex/core/testing"
 * import { Effect } from "effect"
 * const story = Effect.gen(function* () {
 *   const world = yield* Simulation
 *   const { access_token } = yield* world.signIn("ada@example.com")
 *   yield* world.advance("14 minutes")
 *   return access_token
 * })
 * await Effect.runPromise(Effect.provide(story, simulation({ seed: 7 })))
 */
export const simulation = (options: SimulationOptions = {}) =>
  Layer.fresh(Layer.unwrap(Effect.sync(() => world(options))))
