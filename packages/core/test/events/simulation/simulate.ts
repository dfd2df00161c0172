/**
 * One story of a world with two instances, a few clients and everything that can go wrong between them: random
 * interleavings of commits, bursts, blocked readers, broken connections, crashes, outages and revocations.
 * Ends calmly, and then every client must have all there is.
 */
import { Context, DateTime, Duration, Effect, Exit, type Fiber, Layer, Scope } from "effect"
import type { NewEvent } from "../../../src/events/Envelope.ts"
import { EventBroker } from "../../../src/events/EventBroker.ts"
import { EventFeed } from "../../../src/events/EventFeed.ts"
import { EventLog } from "../../../src/events/EventLog.ts"
import { defaultEventSettings, EventSettings } from "../../../src/events/EventSettings.ts"
import { EventStreams, type OpenStream } from "../../../src/events/EventStreams.ts"
import { membershipRevoked } from "../../../src/events/Revocations.ts"
import { StreamAuthority } from "../../../src/events/StreamAuthority.ts"
import { StreamScheduler } from "../../../src/events/StreamPorts.ts"
import { OrgId, ProjectId, UserId } from "../../../src/Ids.ts"
import { SimClient } from "./SimClient.ts"
import { SimLog } from "./SimLog.ts"
import { SimLoop } from "./SimLoop.ts"
import { SimSink } from "./SimSink.ts"

const orgs = [OrgId.make("org-a"), OrgId.make("org-b")]
const projects = [ProjectId.make("prj-1"), ProjectId.make("prj-2")]
const types = ["operation.updated.v1", "other.v1"]

interface Instance {
  readonly streams: EventStreams["Service"]
  readonly scope: Scope.Closeable
}

interface Connection {
  readonly instance: Instance
  readonly fiber: Fiber.Fiber<OpenStream, unknown>
  sink: SimSink | undefined
}

export interface Story {
  readonly events: number
  readonly gaps: number
  readonly overflows: number
  readonly revoked: number
  readonly connections: number
}

export const simulate = (seed: number): Story => {
  const loop = new SimLoop(seed)
  const log = new SimLog(loop)
  const banned = new Set<UserId>()
  const ringEvents = 2 + loop.below(24)
  const settings: EventSettings = {
    ...defaultEventSettings,
    ringEvents,
    ringsBytes: loop.below(4) === 0 ? 60_000 : 10_000_000,
    sliceBytes: 300 + loop.below(4_000),
    eventBytes: 1_500,
    yieldWrites: 1 + loop.below(8),
    tailBatch: 1 + loop.below(12),
    replays: 1 + loop.below(3),
    poll: Duration.millis(400),
    heartbeat: Duration.seconds(8),
    stallTimeout: Duration.seconds(10),
    maxAge: Duration.minutes(3),
    maxLagEvents: loop.below(3) === 0 ? 2 + loop.below(ringEvents) : "ring"
  }

  const authority = StreamAuthority.of({
    permits: ({ principal }) =>
      Effect.gen(function* () {
        yield* Effect.sleep(loop.below(20))
        const answer = !banned.has(principal.user_id)
        yield* Effect.sleep(loop.below(20))
        return answer
      })
  })

  const world = loop.context.pipe(Context.add(EventSettings, settings))

  const start = (): Instance => {
    const layer = EventStreams.layer.pipe(
      Layer.provide(EventFeed.layer),
      Layer.provide(EventBroker.layer),
      Layer.provide([
        StreamScheduler.layer,
        Layer.succeed(EventLog, log.port()),
        Layer.succeed(StreamAuthority, authority)
      ])
    )
    const scope = Scope.makeUnsafe()
    // Not run synchronously: its fibers live on this world's event loop.
    const fiber = Effect.runForkWith(world)(Layer.buildWithScope(layer, scope))
    loop.advance(0)
    const built = fiber.pollUnsafe()
    if (built?._tag !== "Success") throw new Error("An instance did not start.")
    return { streams: Context.get(built.value, EventStreams), scope }
  }

  const users = Array.from({ length: 6 }, (_, index) => UserId.make(`user-${index}`))
  const clients = users.map((user_id, index) => {
    const principal = { user_id, session_id: null, api_key_id: null, secret: null, project_id: null, branch_id: null }
    const access = {
      org_id: orgs[index % 2] ?? OrgId.make("none"),
      project_id: loop.pick([null, ...projects]) ?? null,
      principal
    }
    const narrowed = loop.below(3) === 0 ? types.slice(0, 1) : []
    return new SimClient(user_id, { access, types: narrowed, bookmarks: loop.below(2) === 0 }, log, ringEvents)
  })
  const instances: Array<Instance> = [start(), start()]
  const connections = new Map<SimClient, Connection>()
  const blocked = new Set<SimClient>()

  const connect = (client: SimClient) => {
    const instance = loop.pick(instances)
    if (instance === undefined) return
    const last_event_id = client.lastEventId
    client.connects()
    const connection: { instance: Instance; fiber?: Fiber.Fiber<OpenStream, unknown>; sink: SimSink | undefined } = {
      instance,
      sink: undefined
    }
    const fiber = Effect.runForkWith(world)(
      instance.streams.subscribe({
        ...client.options,
        expires_at: loop.below(4) === 0 ? DateTime.makeUnsafe(loop.now + 60_000) : null,
        last_event_id,
        open: () => {
          const sink = new SimSink(loop, 200 + loop.below(3_000), (bytes) => client.receives(bytes))
          connection.sink = sink
          client.opens()
          return sink
        }
      })
    )
    connections.set(client, Object.assign(connection, { fiber }))
  }

  const disconnect = (client: SimClient) => {
    const connection = connections.get(client)
    connections.delete(client)
    connection?.sink?.cut()
    connection?.fiber.interruptUnsafe()
  }

  const crash = () => {
    const index = loop.below(instances.length)
    const gone = instances[index]
    if (gone === undefined) return
    for (const [client, { instance }] of connections) if (instance === gone) disconnect(client)
    Effect.runForkWith(world)(Scope.close(gone.scope, Exit.void))
    instances[index] = start()
  }

  const event = (n: number): NewEvent => {
    const unnamable = loop.below(30) === 0
    const large = loop.below(25) === 0
    return {
      org_id: loop.pick(orgs) ?? OrgId.make("none"),
      project_id: loop.below(5) === 0 ? null : (loop.pick(projects) ?? null),
      type: unnamable ? "Bad\ntype" : (loop.pick(types) ?? "other.v1"),
      source: "simulation",
      internal: false,
      data: { n, poison: unnamable || large, padding: "é".repeat(large ? 1_000 : loop.below(60)) }
    }
  }

  let stated = 0
  const commit = (count: number) => log.commit(Array.from({ length: count }, () => event(stated++)))

  const revoke = (client: SimClient) => {
    const { org_id, principal } = client.options.access
    if (banned.has(principal.user_id)) return
    if (loop.below(2) === 0) {
      disconnect(client)
      connect(client) // its right is looked up just before it ends
      loop.advance(loop.below(60))
    }
    banned.add(principal.user_id)
    log.commit([event(stated++), membershipRevoked(org_id, principal.user_id), event(stated++), event(stated++)])
    if (loop.below(2) === 0) log.sequence() // another instance was quicker than both of these
  }

  const isBanned = (client: SimClient) => banned.has(client.options.access.principal.user_id)

  /** Clients that read do; those that lost their stream come back, and some do although they may not. */
  const live = (calm: boolean) => {
    for (const client of clients) {
      const connection = connections.get(client)
      if (connection === undefined) {
        if (loop.below(3) === 0 && !(calm && isBanned(client))) connect(client)
      } else if (connection.sink?.closed === true || connection.fiber.pollUnsafe()?._tag === "Failure")
        disconnect(client)
      else if (!blocked.has(client)) connection.sink?.read(1 + loop.below(2_000))
    }
  }

  const acts: ReadonlyArray<() => void> = [
    () => commit(1),
    () => commit(1 + loop.below(4)),
    () => commit(1 + loop.below(3)),
    () => commit(ringEvents + loop.below(ringEvents)),
    () => toggle(blocked, loop.pick(clients)),
    () => toggle(blocked, loop.pick(clients)),
    () => void (loop.below(6) === 0 && crash()),
    () => {
      const client = loop.pick(clients)
      if (client !== undefined) disconnect(client)
    },
    () => {
      const client = loop.pick(clients)
      if (client !== undefined && loop.below(4) === 0) revoke(client)
    },
    () => {
      log.failing = loop.below(5) === 0
    },
    () => {
      const org = loop.pick(orgs)
      if (org !== undefined && loop.below(4) === 0) log.forget(org, ringEvents)
    }
  ]

  const steps = 20 + loop.below(60)
  for (let step = 0; step < steps; step++) {
    loop.pick(acts)?.()
    live(false)
    loop.advance(loop.below(5) === 0 ? loop.below(8_000) : loop.below(120))
  }

  log.failing = false
  blocked.clear()
  const unfinished = (client: SimClient) => {
    const sink = connections.get(client)?.sink
    if (isBanned(client)) return sink?.closed === false
    return sink === undefined || sink.closed || client.behind.length > 0
  }
  for (let calm = 0; calm < 8 || (calm < 200 && clients.some(unfinished)); calm++) {
    live(true)
    for (const { sink } of connections.values()) sink?.read(1_000_000)
    loop.advance(250)
  }
  for (const client of clients)
    if (unfinished(client))
      throw new Error(`${client.name} is at ${client.position} and never got ${client.behind[0]?.id}`)
  for (const { scope } of instances) Effect.runForkWith(world)(Scope.close(scope, Exit.void))
  loop.advance(0)
  const sum = (of: (client: SimClient) => number) => clients.reduce((total, client) => total + of(client), 0)
  return {
    events: sum((client) => client.seen.events),
    gaps: sum((client) => client.seen.gaps),
    overflows: sum((client) => client.seen.overflows),
    revoked: sum((client) => client.seen.closings.filter((reason) => reason === "revoked").length),
    connections: sum((client) => client.connections)
  }
}

const toggle = <A>(set: Set<A>, item: A | undefined) => {
  if (item !== undefined && !set.delete(item)) set.add(item)
}
