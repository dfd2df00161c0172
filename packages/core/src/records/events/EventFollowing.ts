/**
 * Follows the events of an organization or a project inside the process, for hosts (docs/design/library.md N29–N32).
 *
 * A subscription is a cursor. Delivered events wait in a bounded buffer; when the buffer is full, later events are read
 * from the log on demand. So a slow reader costs bounded memory and loses nothing that the log retains. A `Gap` takes
 * the place of events that the log no longer has. A subscription ends with its organization or its project, at the
 * position of the revocation in the log.
 *
 * Pitfall: going over to the buffer after the last page of the log. An event that was delivered while that page was
 * read is in neither, so the log is read again whenever an event was delivered in between.
 */
import { Context, Deferred, Effect, Exit, Layer, Option, type Scope, Stream } from "effect"
import type { OrgId, ProjectId } from "../../Ids.ts"
import { NotFound } from "../../Refusals.ts"
import type { StorageError } from "../../StorageError.ts"
import { type Envelope, type LoggedEvent, toEnvelope } from "./Envelope.ts"
import { EventFeed } from "./EventFeed.ts"
import { EventHistory } from "./EventHistory.ts"
import { noEvent, parseLastEventId } from "./EventId.ts"
import { EventLog } from "./EventLog.ts"
import { revocationOf } from "./InternalEvents.ts"

export interface FollowRequest {
  readonly org_id: OrgId
  /** `null`: the whole organization. */
  readonly project_id: ProjectId | null
  /** The types of events to deliver; empty: all. */
  readonly types: ReadonlyArray<string>
  /** Starts after the event with this id; `null`: with the next event. */
  readonly after: string | null
}

export type Followed =
  | { readonly _tag: "Event"; readonly envelope: Envelope }
  /**
   * Events are missing here: read the state again. `too_old`: the log no longer has them. `malformed`: `after` is not
   * an id. `ahead`: the log has no event with the id `after`, because it lost its end in a fail-over or a restore.
   * `log_reset`: this happened while following.
   */
  | { readonly _tag: "Gap"; readonly reason: "too_old" | "malformed" | "ahead" | "log_reset" }

/** Events that wait for their reader. */
const buffered = 256
const page = 100

class Follower {
  readonly #request: FollowRequest
  readonly #history: EventHistory["Service"]
  readonly #log: EventLog["Service"]
  /** Whether the position of the request has been compared with the log. */
  #located = false
  #buffer: Array<Followed> = []
  /** The newest event that was delivered or buffered. */
  #position: string | undefined
  /** Whether the log has events that the buffer lacks. */
  #behind: boolean
  /** Deliveries since the last read of the log began. */
  #delivered = 0
  #started = false
  /** The event with which the organization or the project was deleted. Nothing follows it. */
  #end: string | undefined
  #changed = Deferred.makeUnsafe<void>()

  constructor(request: FollowRequest, history: EventHistory["Service"], log: EventLog["Service"]) {
    this.#request = request
    this.#history = history
    this.#log = log
    this.#behind = request.after !== null
    if (request.after === null) return
    const last = parseLastEventId(request.after)
    if (last._tag === "After") this.#position = last.position
    else {
      this.#behind = false
      this.#buffer.push({ _tag: "Gap", reason: "malformed" })
    }
  }

  /** The feed starts, or starts again. */
  restart() {
    if (!this.#started) {
      this.#started = true
      return
    }
    this.#buffer = [{ _tag: "Gap", reason: "log_reset" }]
    this.#position = undefined
    this.#end = undefined
    this.#behind = false
    this.#wake()
  }

  deliver(batch: ReadonlyArray<LoggedEvent>) {
    let any = false
    for (const event of batch) {
      if (this.#end !== undefined) break
      if (this.#ends(event)) {
        this.#end = event.id
        any = true
      }
      if (!this.#shows(event) || (this.#position !== undefined && event.id <= this.#position)) continue
      any = true
      if (this.#buffer.length >= buffered) this.#behind = true
      if (this.#behind) continue
      this.#position = event.id
      this.#buffer.push({ _tag: "Event", envelope: toEnvelope(event) })
    }
    if (!any) return
    this.#delivered += 1
    this.#wake()
  }

  /**
   * The items that are available: waits until there is one. `NotFound`: the organization or the project was deleted.
   */
  get next(): Effect.Effect<ReadonlyArray<Followed>, NotFound | StorageError> {
    return Effect.gen({ self: this }, function* () {
      for (;;) {
        const changed = this.#changed
        if (this.#buffer.length > 0) return this.#buffer.splice(0)
        if (!this.#behind && this.#end !== undefined) return yield* new NotFound({})
        if (!this.#behind) yield* Deferred.await(changed)
        else if (this.#located) yield* this.#read
        else yield* this.#locate
      }
    })
  }

  /** A position that the log lost belongs to another history, so the events since then cannot be determined. */
  get #locate() {
    return Effect.gen({ self: this }, function* () {
      const from = this.#position
      const { org_id } = this.#request
      const lost = from !== undefined && from > (yield* this.#log.headOf(org_id, from))
      const head = lost ? yield* this.#log.headOf(org_id) : from
      this.#located = true
      if (!lost || this.#position !== from) return
      this.#buffer.push({ _tag: "Gap", reason: "ahead" })
      this.#position = head
    })
  }

  get #read() {
    return Effect.gen({ self: this }, function* () {
      const { org_id, project_id } = this.#request
      this.#delivered = 0
      const from = this.#position
      const read = yield* this.#history.read(org_id, project_id, { after: from ?? noEvent, limit: page })
      if (this.#position !== from) return // the log started again in between
      if (!read.complete) this.#buffer.push({ _tag: "Gap", reason: "too_old" })
      for (const envelope of read.events) {
        if (this.#end !== undefined && envelope.id > this.#end) {
          this.#behind = false
          return
        }
        this.#position = envelope.id
        if (this.#wants(envelope.type)) this.#buffer.push({ _tag: "Event", envelope })
      }
      if (read.next_cursor === null && this.#delivered === 0) this.#behind = false
    })
  }

  #shows({ internal, org_id, project_id, type }: LoggedEvent): boolean {
    const wanted = this.#request
    return (
      !internal &&
      org_id === wanted.org_id &&
      (wanted.project_id === null || project_id === wanted.project_id) &&
      this.#wants(type)
    )
  }

  #ends(event: LoggedEvent): boolean {
    const { org_id, project_id } = this.#request
    const revoked = Option.getOrUndefined(Option.flatten(revocationOf(event)))
    if (revoked === undefined || event.org_id !== org_id) return false
    if ("project_id" in revoked) return revoked.project_id === project_id
    return "org_id" in revoked && !("user_id" in revoked) && revoked.org_id === org_id
  }

  #wants(type: string): boolean {
    return this.#request.types.length === 0 || this.#request.types.includes(type)
  }

  #wake() {
    const changed = this.#changed
    this.#changed = Deferred.makeUnsafe()
    Deferred.doneUnsafe(changed, Exit.void)
  }
}

export class EventFollowing extends Context.Service<
  EventFollowing,
  {
    /**
     * Subscribes at once, until the scope closes: no event that commits after this call is missed. The stream ends with
     * its reader, or with `NotFound` when the organization or the project is deleted; a failure of the log ends it.
     */
    readonly follow: (
      request: FollowRequest
    ) => Effect.Effect<Stream.Stream<Followed, NotFound | StorageError>, never, Scope.Scope>
  }
>()("@narthex/core/records/events/EventFollowing") {
  static readonly layer: Layer.Layer<EventFollowing, never, EventFeed | EventHistory | EventLog> = Layer.effect(
    EventFollowing,
    Effect.gen(function* () {
      const feed = yield* EventFeed
      const history = yield* EventHistory
      const log = yield* EventLog
      return EventFollowing.of({
        follow: Effect.fnUntraced(function* (request) {
          const follower = new Follower(request, history, log)
          yield* feed.subscribe({
            restart: () => follower.restart(),
            deliver: (batch) => follower.deliver(batch)
          })
          return Stream.fromIterableEffectRepeat(follower.next)
        })
      })
    })
  )
}
