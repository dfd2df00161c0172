/**
 * The event log of a simulated world: an outbox, a sequencer and a dense log, as on Postgres. Its answers take time,
 * show the state of some moment during the call, and sometimes fail; its hints are sometimes lost.
 */
import { DateTime, Effect, Option, Queue, Stream } from "effect"
import { type OrgId, type ProjectId, RegionId } from "../../../src/Ids.ts"
import type { EventData, LoggedEvent, NewEvent } from "../../../src/records/events/Envelope.ts"
import { makeEventId, noEvent } from "../../../src/records/events/EventId.ts"
import type { EventLog } from "../../../src/records/events/EventLog.ts"
import { StorageError } from "../../../src/StorageError.ts"
import type { SimLoop } from "./SimLoop.ts"

const batch = 7
const region_id = RegionId.make("local")

/** How an instance reaches the log. */
export interface Reach {
  /** Whether it gets no answers at all. */
  failing: boolean
  /** Whether it sees new events late. */
  lagging: boolean
}

/** All events that one organization ever had. */
interface Own {
  readonly events: Array<LoggedEvent>
  /** How many of them are trimmed. */
  trimmed: number
}

export class SimLog {
  /** Everything that ever was in the log, by position. */
  readonly all: Array<LoggedEvent> = []
  /** Whether every answer arrives. */
  calm = false
  readonly #loop: SimLoop
  readonly #outbox: Array<NewEvent & { readonly at: DateTime.Utc }> = []
  readonly #own = new Map<OrgId, Own>()
  readonly #ids = new Map<string | EventData, LoggedEvent>()
  readonly #listeners: Array<Queue.Queue<void>> = []
  /** One answer in so many takes time; one hint in so many arrives, none with 0. */
  readonly #slow: number
  readonly #heard: number
  #ms = 0
  #c32 = 0

  constructor(loop: SimLoop) {
    this.#loop = loop
    this.#slow = loop.pick([1, 3, 8])
    this.#heard = loop.pick([0, 1, 1, 3])
  }

  commit(events: ReadonlyArray<NewEvent>) {
    const at = DateTime.makeUnsafe(this.#loop.now)
    for (const event of events) this.#outbox.push({ ...event, at })
    if (this.#heard > 0 && this.#loop.once(this.#heard)) this.#hint()
  }

  /** Moves some of the outbox into the log. */
  sequence(): "idle" | "more" {
    for (const stated of this.#outbox.splice(0, batch)) {
      this.#c32 = this.#loop.now > this.#ms ? 1 : this.#c32 + 1
      this.#ms = Math.max(this.#ms, this.#loop.now)
      const id = makeEventId(this.#ms, 7, this.#c32)
      const event = { ...stated, region_id, pos: this.all.length + 1, id }
      this.all.push(event)
      this.#of(event.org_id).events.push(event)
      this.#ids.set(id, event)
      if (event.internal) this.#ids.set(event.data, event)
      if (this.#heard > 0 && this.#loop.once(this.#heard)) this.#hint()
    }
    return this.#outbox.length > 0 ? "more" : "idle"
  }

  /** Forgets events that are older than this, but the newest `keep` of each organization. */
  forget(millis: number, keep: number) {
    const before = this.#loop.now - millis
    for (const own of this.#own.values())
      while (
        own.trimmed < own.events.length - keep &&
        (own.events[own.trimmed]?.at.epochMilliseconds ?? before) < before
      )
        own.trimmed += 1
  }

  /** By its id, or by the data that it was stated with. */
  find(key: string | EventData): LoggedEvent | undefined {
    return this.#ids.get(key)
  }

  /** The newest id that the log has forgotten of an organization. */
  forgotten(org: OrgId): string {
    const own = this.#of(org)
    return own.events[own.trimmed - 1]?.id ?? noEvent
  }

  /** The id that is this far from the newest of those at a position of the log. */
  back(org: OrgId, pos: number, count: number): string {
    const { events } = this.#of(org)
    let at = events.length
    while (at > 0 && (events[at - 1]?.pos ?? 0) > pos) at -= 1
    return events[at - 1 - count]?.id ?? noEvent
  }

  /** Client-visible events of a scope after an id. */
  *visible(org: OrgId, project: ProjectId | null, after: string, upTo: string): Generator<LoggedEvent> {
    const { events } = this.#of(org)
    let low = 0
    let high = events.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((events[middle]?.id ?? "") > after) high = middle
      else low = middle + 1
    }
    for (let at = low; at < events.length; at++) {
      const event = events[at]
      if (event === undefined || event.id > upTo) return
      if (!event.internal && (project === null || event.project_id === project)) yield event
    }
  }

  /** The log as one instance reaches it. */
  port(reach: Reach): EventLog["Service"] {
    const answer = <A>(operation: string, read: () => A) =>
      this.#loop.answer(this.#slow, 40, () => this.#read(reach, operation, read))
    return {
      append: () => Effect.die("A simulated world commits by itself."),
      sequence: answer("sequence", () => (this.#loop.once(5) ? "busy" : this.sequence())),
      head: answer("head", () => ({ pos: this.all.length, id: this.all.at(-1)?.id ?? noEvent })),
      headOf: (org, upTo) =>
        answer("headOf", () => {
          const { events } = this.#of(org)
          return (upTo === undefined ? events.at(-1) : events.findLast(({ id }) => id <= upTo))?.id ?? noEvent
        }),
      tail: (after, limit) =>
        Effect.suspend(() => {
          const read = () => this.#read(reach, "tail", () => this.#tail(after, limit))
          return reach.lagging ? this.#loop.answer(1, 1_500, read) : this.#loop.answer(this.#slow, 40, read)
        }),
      window: (org, cap) =>
        answer("window", () => {
          const own = this.#of(org)
          const kept = own.events.slice(own.trimmed)
          const visible = kept.filter(({ internal }) => !internal)
          const head = kept.slice(-1).filter(({ internal }) => internal)
          const floor = visible.at(-1 - cap)?.id ?? own.events[own.trimmed - 1]?.id
          return { events: [...visible.slice(-cap), ...head], floor: Option.fromUndefinedOr(floor) }
        }),
      scopeHasBetween: (org, project, after, upTo) =>
        answer(
          "scopeHasBetween",
          () => after < this.forgotten(org) || this.visible(org, project, after, upTo).next().done !== true
        ),
      history: () => Effect.die("The simulation reads no history."),
      newest: () => Effect.die("The simulation reads no history."),
      wakeups: Stream.unwrap(
        Effect.map(Queue.sliding<void>(1), (hints) => {
          this.#listeners.push(hints)
          return Stream.fromQueue(hints)
        })
      ),
      wake: Effect.void,
      trim: () => Effect.succeed(0)
    }
  }

  #of(org: OrgId): Own {
    const own = this.#own.get(org) ?? { events: [], trimmed: 0 }
    this.#own.set(org, own)
    return own
  }

  #tail(after: number, limit: number): ReadonlyArray<LoggedEvent> {
    const found: Array<LoggedEvent> = []
    for (let pos = after; pos < this.all.length && found.length < limit; pos++) {
      const event = this.all[pos]
      if (event !== undefined && event.id > this.forgotten(event.org_id)) found.push(event)
    }
    return found
  }

  #hint() {
    for (const listener of this.#listeners) Queue.offerUnsafe(listener, undefined)
  }

  /** Question or answer may get lost. */
  #read<A>(reach: Reach, operation: string, read: () => A): Effect.Effect<A, StorageError> {
    if (reach.failing) return new StorageError({ operation, cause: "simulated" })
    const result = read()
    return !this.calm && this.#loop.once(60)
      ? new StorageError({ operation, cause: "connection lost" })
      : Effect.succeed(result)
  }
}
