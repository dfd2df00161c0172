/** Events of an invented log, and a broker on an event loop that a test advances. */
import { Context, DateTime, Effect, Layer, Option, Result, Scope, Stream } from "effect"
import { OrgId, ProjectId, RegionId, UserId } from "../../src/Ids.ts"
import type { LoggedEvent, NewEvent } from "../../src/records/events/Envelope.ts"
import { EventFeed, type FeedSubscriber } from "../../src/records/events/EventFeed.ts"
import { makeEventId } from "../../src/records/events/EventId.ts"
import { defaultEventSettings, EventSettings } from "../../src/records/events/EventSettings.ts"
import { type Admission, EventBroker } from "../../src/services/events/streams/EventBroker.ts"
import type { Start } from "../../src/services/events/streams/Resume.ts"
import type { StreamOptions, StreamPrincipal } from "../../src/services/events/streams/StreamAccess.ts"
import type { StreamSink } from "../../src/services/events/streams/StreamSink.ts"
import { SimLoop } from "./simulation/SimLoop.ts"

export const org = OrgId.make("0198f3d2-7c1a-7b44-9c55-2f1e6a0b7d10")
export const project = ProjectId.make("prj-1")
export const otherProject = ProjectId.make("prj-2")
export const ada = UserId.make("ada")

export const idAt = (pos: number) => makeEventId(1_750_000_000_000, 5, pos)

export const logged = (pos: number, more: Partial<NewEvent> = {}): LoggedEvent => ({
  org_id: org,
  project_id: project,
  type: "operation.updated.v1",
  source: "operations",
  internal: false,
  data: { n: pos },
  ...more,
  region_id: RegionId.make("local"),
  at: DateTime.makeUnsafe("2026-05-01T12:00:00Z"),
  pos,
  id: idAt(pos)
})

export const principal = (more: Partial<StreamPrincipal> = {}): StreamPrincipal => ({
  session_id: null,
  api_key_id: null,
  secret: null,
  user_id: ada,
  project_id: null,
  branch_id: null,
  ...more
})

/** Options of a stream of the whole organization. */
export const streamOptions = (more: Partial<StreamOptions> = {}): StreamOptions => ({
  access: { org_id: org, project_id: null, principal: principal() },
  expires_at: null,
  types: [],
  bookmarks: false,
  ...more
})

/** A connection that keeps what it gets, and can be full. */
export class TestSink implements StreamSink {
  readonly writes: Array<Uint8Array> = []
  full = false
  ended = false
  destroyed = false
  drain: () => void = () => undefined
  close: () => void = () => undefined

  readonly write = (bytes: Uint8Array) => {
    this.writes.push(bytes)
    return !this.full
  }
  readonly end = () => {
    this.ended = true
  }
  readonly destroy = () => {
    this.destroyed = true
  }
  readonly onDrain = (callback: () => void) => {
    this.drain = () => {
      this.full = false
      callback()
    }
  }
  readonly onClose = (callback: () => void) => {
    this.close = callback
  }

  get text(): string {
    return this.writes.map((bytes) => new TextDecoder().decode(bytes)).join("")
  }

  /** The ids of the events that came. */
  get ids(): ReadonlyArray<string> {
    return [...this.text.matchAll(/^id: (.*)\nevent:/gm)].map((found) => found[1] ?? "")
  }

  /** The data of the last event of this type. */
  data(type: string): unknown {
    const found = [...this.text.matchAll(/^event: (.*)\ndata: (.*)$/gm)].filter(([, name]) => name === type)
    return JSON.parse(found.at(-1)?.[2] ?? "null")?.data
  }
}

/** A feed that delivers what a test hands it. */
export const makeTestFeed = () => {
  const subscribers: Array<FeedSubscriber> = []
  const layer = Layer.succeed(EventFeed, {
    ready: Effect.void,
    refresh: Effect.void,
    subscribe: (subscriber) => Effect.sync(() => void subscribers.push(subscriber)),
    events: Stream.never
  })
  return {
    layer,
    deliver: (batch: ReadonlyArray<LoggedEvent>) => {
      for (const subscriber of subscribers) subscriber.deliver?.(batch)
    },
    restart: (pos: number) => {
      for (const subscriber of subscribers) subscriber.restart?.(pos)
    }
  }
}

export const makeTestBroker = (settings: Partial<EventSettings> = {}) => {
  const loop = new SimLoop(1)
  const feed = makeTestFeed()
  const context = Context.add(loop.context, EventSettings, { ...defaultEventSettings, ...settings })
  const fiber = Effect.runForkWith(context)(
    Layer.buildWithScope(EventBroker.layer.pipe(Layer.provide(feed.layer)), Scope.makeUnsafe())
  )
  loop.advance(0)
  const built = fiber.pollUnsafe()
  if (built?._tag !== "Success") throw new Error("The broker did not start.")
  const broker = Context.get(built.value, EventBroker)

  const load = (events: ReadonlyArray<LoggedEvent> = [], floor: string | undefined = undefined, of: OrgId = org) =>
    broker.beginLoad(of).finish({ events, floor: Option.fromUndefinedOr(floor) })

  const admit = (more: Partial<StreamOptions> = {}) => Result.getOrThrow(broker.admit(streamOptions(more)))

  /** Attaches an admitted client to its organization's ring. */
  const attach = (admission: Admission, start: Start = { _tag: "Live" }, sink = new TestSink()) => {
    const ring = broker.ring(admission.access.org_id)
    if (ring === undefined) throw new Error("The ring is not loaded.")
    return { sink, stream: Option.getOrThrow(admission.attach(ring, start, () => sink)) }
  }

  const connect = (more?: Partial<StreamOptions>, start?: Start, sink?: TestSink) => attach(admit(more), start, sink)

  return { admit, attach, broker, connect, feed, load, loop }
}
