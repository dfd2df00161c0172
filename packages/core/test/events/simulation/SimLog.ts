/**
 * The event log of a simulated world: an outbox, a sequencer and a dense log, as on Postgres, with answers that take
 * their time, see the state of some moment in between, and sometimes fail.
 */
import { DateTime, Effect, Option, Stream } from "effect"
import type { LoggedEvent, NewEvent } from "../../../src/events/Envelope.ts"
import { makeEventId, noEvent } from "../../../src/events/EventId.ts"
import type { EventLog } from "../../../src/events/EventLog.ts"
import type { OrgId, ProjectId } from "../../../src/Ids.ts"
import { RegionId } from "../../../src/Ids.ts"
import { StorageError } from "../../../src/StorageError.ts"
import type { SimLoop } from "./SimLoop.ts"

const batch = 7

export class SimLog {
  /** Everything that ever was in the log: `trimmedTo` says how much of it the log has forgotten. */
  readonly all: Array<LoggedEvent> = []
  readonly outbox: Array<NewEvent & { readonly at: DateTime.Utc }> = []
  readonly forgotten = new Map<OrgId, string>()
  failing = false
  readonly #loop: SimLoop
  #ms = 0
  #c32 = 0

  constructor(loop: SimLoop) {
    this.#loop = loop
  }

  commit(events: ReadonlyArray<NewEvent>) {
    const at = DateTime.makeUnsafe(this.#loop.now)
    for (const event of events) this.outbox.push({ ...event, at })
  }

  /** Moves some of the outbox into the log. */
  sequence(): "idle" | "more" {
    for (const event of this.outbox.splice(0, batch)) {
      this.#c32 = this.#loop.now > this.#ms ? 1 : this.#c32 + 1
      this.#ms = Math.max(this.#ms, this.#loop.now)
      const id = makeEventId(this.#ms, 7, this.#c32)
      this.all.push({ ...event, region_id: RegionId.make("local"), pos: this.all.length + 1, id })
    }
    return this.outbox.length > 0 ? "more" : "idle"
  }

  /** Forgets all but the newest `keep` events of an organization. */
  forget(org: OrgId, keep: number) {
    const own = this.all.filter((event) => event.org_id === org)
    const last = own.at(-1 - keep)
    if (last !== undefined) this.forgotten.set(org, last.id)
  }

  /** Client-visible events of a scope after an id. */
  visible(org: OrgId, project: ProjectId | null, after: string, upTo: string): ReadonlyArray<LoggedEvent> {
    return this.all.filter(
      (event) =>
        event.org_id === org &&
        !event.internal &&
        (project === null || event.project_id === project) &&
        event.id > after &&
        event.id <= upTo
    )
  }

  /** The log as one instance reaches it. */
  readonly port = (): EventLog["Service"] => {
    const loop = this.#loop
    const pause = Effect.suspend(() => (loop.below(3) === 0 ? Effect.sleep(loop.below(40)) : Effect.void))
    const answer = <A>(operation: string, read: () => A): Effect.Effect<A, StorageError> =>
      Effect.gen({ self: this }, function* () {
        yield* pause
        if (this.failing) return yield* new StorageError({ operation, cause: "simulated" })
        const result = read()
        yield* pause
        if (loop.below(60) === 0) return yield* new StorageError({ operation, cause: "connection lost" })
        return result
      })
    const kept = () => this.all.filter((event) => event.id > (this.forgotten.get(event.org_id) ?? noEvent))
    const own = (org: OrgId) => kept().filter((event) => event.org_id === org)
    const floorOf = (org: OrgId) => this.forgotten.get(org) ?? noEvent
    return {
      append: () => Effect.die("A simulated world commits by itself."),
      sequence: answer("sequence", () => (loop.below(5) === 0 ? "busy" : this.sequence())),
      head: answer("head", () => ({ pos: this.all.length, id: this.all.at(-1)?.id ?? noEvent })),
      headOf: (org) => answer("headOf", () => own(org).at(-1)?.id ?? floorOf(org)),
      tail: (after, limit) => answer("tail", () => this.all.slice(after, after + limit)),
      window: (org, cap) =>
        answer("window", () => {
          const events = own(org)
          const floor = events.at(-1 - cap)?.id ?? floorOf(org)
          return { events: events.slice(-cap), floor: floor === noEvent ? Option.none() : Option.some(floor) }
        }),
      scopeHasBetween: (org, project, after, upTo) =>
        answer("scopeHasBetween", () => after < floorOf(org) || this.visible(org, project, after, upTo).length > 0),
      history: () => Effect.die("Nobody asks for history here."),
      wakeups: Stream.never,
      wake: Effect.void,
      trim: () => Effect.succeed(0)
    }
  }
}
