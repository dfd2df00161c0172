/**
 * The instances of a simulated world and the connections of its clients: instances start, crash, and stop gracefully,
 * and clients connect to any of them.
 *
 * Pitfall: expecting an exception in an instance's fiber to fail the test. It does not arrive here; the guarantees are
 * checked from outside, by `inspect` and by the clients.
 */
import { Cause, Context, DateTime, Duration, Effect, Exit, type Fiber, Layer, Scope } from "effect"
import { EventFeed } from "../../../src/records/events/EventFeed.ts"
import { EventLog } from "../../../src/records/events/EventLog.ts"
import { EventSettings } from "../../../src/records/events/EventSettings.ts"
import { EventBroker } from "../../../src/services/events/streams/EventBroker.ts"
import { EventStreams } from "../../../src/services/events/streams/EventStreams.ts"
import type { OpenStream } from "../../../src/services/events/streams/OpenStream.ts"
import { StreamAuthority } from "../../../src/services/events/streams/StreamAuthority.ts"
import type { Server, SimClient } from "./SimClient.ts"
import type { Reach, SimLog } from "./SimLog.ts"
import type { SimLoop } from "./SimLoop.ts"
import { SimSink } from "./SimSink.ts"
import { lateness, roomy } from "./simSettings.ts"

const layer = EventStreams.layer.pipe(Layer.provide(EventBroker.layer), Layer.provide(EventFeed.layer))

interface Instance extends Server {
  readonly reach: Reach
  readonly streams: EventStreams["Service"]
  readonly scope: Scope.Closeable
  /** The stop of the instance, and the time at which it should be done. */
  stopping: { readonly done: Fiber.Fiber<void>; readonly by: number } | undefined
}

interface Connection {
  readonly instance: Instance
  readonly expiresAt: number
  fiber: Fiber.Fiber<OpenStream, unknown> | undefined
  sink: SimSink | undefined
}

export class SimFleet {
  crashes = 0
  drains = 0
  refusals = 0
  readonly #loop: SimLoop
  readonly #log: SimLog
  readonly #settings: EventSettings
  readonly #world: Context.Context<StreamAuthority>
  /** Within this time every right is revalidated. */
  readonly #patience: number
  readonly #instances: Array<Instance> = []
  readonly #connections = new Map<SimClient, Connection>()

  constructor(loop: SimLoop, log: SimLog, settings: EventSettings, authority: StreamAuthority["Service"]) {
    this.#loop = loop
    this.#log = log
    this.#settings = settings
    this.#patience = 1.2 * Duration.toMillis(settings.revalidate) + 1_500
    this.#world = loop.context.pipe(Context.add(EventSettings, settings), Context.add(StreamAuthority, authority))
    const size = loop.pick([1, 1, 2, 2])
    for (let index = 0; index < size; index++) this.#instances.push(this.#start())
  }

  sinkOf(client: SimClient): SimSink | undefined {
    return this.#connections.get(client)?.sink
  }

  connected(client: SimClient): boolean {
    return this.#connections.has(client)
  }

  connect(client: SimClient) {
    const loop = this.#loop
    const instance = loop.pick(this.#instances)
    const expiresAt = loop.once(4) ? loop.now + 2_500 + loop.below(4_000) : Number.POSITIVE_INFINITY
    const connection: Connection = { instance, expiresAt, fiber: undefined, sink: undefined }
    const last = client.lastEventId
    client.connects(instance)
    this.#connections.set(client, connection)
    connection.fiber = Effect.runForkWith(this.#world)(
      instance.streams.subscribe({
        ...client.options,
        expires_at: expiresAt === Number.POSITIVE_INFINITY ? null : DateTime.makeUnsafe(expiresAt),
        last_event_id: loop.once(8) ? last?.toLowerCase() : last,
        open: () => {
          const sink = new SimSink(loop, expiresAt, this.#settings.yield_writes === roomy, client)
          connection.sink = sink
          client.opens()
          return sink
        }
      })
    )
  }

  disconnect(client: SimClient) {
    const connection = this.#connections.get(client)
    this.#connections.delete(client)
    connection?.sink?.destroy()
    connection?.fiber?.interruptUnsafe()
  }

  /** Stops without notifying its clients. */
  crash() {
    this.crashes += 1
    this.#replace(this.#loop.pick(this.#instances))
  }

  /** Graceful shutdown: streams are notified, new ones are refused, and then another instance takes its place. */
  drain() {
    const instance = this.#loop.pick(this.#instances)
    if (instance.stopping !== undefined) return
    this.drains += 1
    const over = this.#loop.below(1_500)
    const slack = Duration.toMillis(this.#settings.linger) + lateness(this.#settings) + 500
    const done = Effect.runForkWith(this.#world)(instance.streams.drain(Duration.millis(over)))
    instance.stopping = { done, by: this.#loop.now + over + slack }
  }

  /** One instance, or all of them, lose the log or fall behind it. */
  disturb() {
    const trouble = this.#loop.pick(["failing", "lagging"] as const)
    const one = this.#loop.once(2) ? this.#loop.pick(this.#instances) : undefined
    for (const instance of this.#instances) if (one === undefined || one === instance) instance.reach[trouble] = true
  }

  calm() {
    for (const { reach } of this.#instances) {
      reach.failing = false
      reach.lagging = false
    }
  }

  /** The end of the world: nothing of it may go on. */
  stop() {
    for (const client of [...this.#connections.keys()]) this.disconnect(client)
    for (const { scope, stopping } of this.#instances) {
      stopping?.done.interruptUnsafe()
      Effect.runForkWith(this.#world)(Scope.close(scope, Exit.void))
    }
    this.#loop.advance(0)
    if (!this.#loop.idle) throw new Error("Something goes on in an instance that has stopped.")
  }

  /** Follows what became of instances and connections, and of what holds of each at any time. */
  inspect() {
    const { now, wokeAt } = this.#loop
    const awake = now > wokeAt + 2_500
    // A machine that sleeps revalidates nothing: a right found just before the sleep may end during it.
    const patienceFrom = ({ barredAt }: SimClient) => Math.max(barredAt, wokeAt) + this.#patience
    for (const instance of [...this.#instances]) {
      if (instance.stopping === undefined) continue
      if (instance.stopping.done.pollUnsafe() !== undefined) this.#retire(instance)
      else if (awake && now > instance.stopping.by) throw new Error("An instance did not come to an end.")
    }
    for (const [client, connection] of this.#connections) {
      const outcome = connection.fiber?.pollUnsafe()
      if (outcome !== undefined && Exit.isFailure(outcome)) {
        this.#refused(outcome.cause, connection.instance)
        this.disconnect(client)
      } else if (connection.sink?.closed === true) this.disconnect(client)
      else if (awake && connection.sink !== undefined)
        this.#watch(connection.sink, Math.min(connection.expiresAt, patienceFrom(client)))
    }
  }

  #refused(cause: Cause.Cause<unknown>, instance: Instance) {
    this.refusals += 1
    for (const reason of cause.reasons) {
      const tag = Cause.isFailReason(reason) ? (reason.error as { readonly _tag?: string })._tag : reason._tag
      const fair =
        tag === "StorageError" ||
        (tag === "TooManyStreams" && this.#settings.limits !== null) ||
        (tag === "StreamsDraining" && instance.draining)
      if (!fair) throw new Error(`A client was refused: ${tag}`, { cause: Cause.squash(cause) })
    }
  }

  #watch(sink: SimSink, over: number) {
    const { heartbeat, linger, max_age, stall_timeout } = this.#settings
    const { now } = this.#loop
    const late = lateness(this.#settings)
    if (now - sink.endedAt > Duration.toMillis(linger) + late) throw new Error("An ended stream stays connected.")
    if (!sink.open) return
    if (now > over) throw new Error("A stream outlived its right.")
    if (now - sink.openedAt > Duration.toMillis(max_age) + late) throw new Error("A stream is too old.")
    const stall = Duration.toMillis(stall_timeout)
    const quiet = now - sink.movedAt
    if (quiet > (sink.full ? stall : Math.max(stall, 1.2 * Duration.toMillis(heartbeat))) + late)
      throw new Error(sink.full ? "A stalled stream goes on." : "A stream fell silent.")
  }

  #retire(instance: Instance) {
    for (const { instance: of, sink } of this.#connections.values())
      if (of === instance && sink?.open === true) throw new Error("A stream goes on in an instance that has drained.")
    this.#replace(instance)
  }

  #replace(gone: Instance) {
    for (const [client, { instance }] of this.#connections) if (instance === gone) this.disconnect(client)
    Effect.runForkWith(this.#world)(Scope.close(gone.scope, Exit.void))
    this.#instances[this.#instances.indexOf(gone)] = this.#start()
  }

  #start(): Instance {
    const scope = Scope.makeUnsafe()
    const reach = { failing: false, lagging: false }
    const world = Context.add(this.#world, EventLog, this.#log.port(reach))
    // Not run synchronously: its fibers live on this world's event loop.
    const fiber = Effect.runForkWith(world)(Layer.buildWithScope(layer, scope))
    this.#loop.advance(0)
    const built = fiber.pollUnsafe()
    if (built?._tag !== "Success") throw new Error("An instance did not start.")
    return {
      streams: Context.get(built.value, EventStreams),
      reach,
      scope,
      stopping: undefined,
      get draining() {
        return this.stopping !== undefined
      }
    }
  }
}
