/**
 * A client of a simulated world. It checks every block that it receives against the log itself.
 *
 * The rules: ids rise strictly along a stream; every event is in scope and equals what was emitted; between a position and
 * the next event nothing is left out, unless a gap or an overflow says so; nothing follows the client's revocation; and a
 * stream that ends says why.
 */
import type { EventData, LoggedEvent } from "../../../src/records/events/Envelope.ts"
import { eventPosition } from "../../../src/records/events/EventId.ts"
import type { StreamOptions } from "../../../src/services/events/streams/StreamAccess.ts"
import type { SimLog } from "./SimLog.ts"
import { SseReader } from "./SseReader.ts"

export type SimOptions = Omit<StreamOptions, "expires_at">

/** The state of the serving instance that its client can notice. */
export interface Server {
  readonly draining: boolean
}

const remembered = 12

export class SimClient {
  readonly options: SimOptions
  /** The `Last-Event-ID` of its next connection. */
  lastEventId: string | undefined
  /** The position up to which it knows that nothing is missing. */
  position: string | undefined
  /** When the client lost its right. The revocation may reach the log later, or never. */
  barredAt = Number.POSITIVE_INFINITY
  /** The revocation in the log. */
  revokedBy: EventData | undefined
  readonly seen = { events: 0, gaps: 0, overflows: 0, beats: 0, connections: 0 }
  readonly closings: Array<string> = []
  /** A number made of every line that it got. */
  trace = 0
  /** Ids of its stream, to come back to. */
  readonly #memory: Array<string> = []
  readonly #log: SimLog
  /** How many events a ring keeps, if that is certain. */
  readonly #ring: number | undefined
  #server: Server = { draining: false }
  #reader: SseReader | undefined
  #id: string | undefined
  #event: string | undefined
  #data: string | undefined
  #begun = false
  #told = false
  #lastOnStream = ""
  #sent: string | undefined
  /** The log's head when the stream was opened. */
  #head = 0

  constructor(options: SimOptions, lastEventId: string | undefined, log: SimLog, ring: number | undefined) {
    this.options = options
    this.lastEventId = lastEventId
    this.#log = log
    this.#ring = ring
  }

  /** A new connection begins: an unfinished block of the last one is lost. */
  connects(server: Server) {
    this.seen.connections += 1
    this.#server = server
    this.#reader = undefined
    this.#id = undefined
    this.#event = undefined
    this.#data = undefined
    this.#begun = false
    this.#told = false
    this.#lastOnStream = ""
    this.#sent = this.lastEventId
    this.position = this.lastEventId === undefined ? undefined : eventPosition(this.lastEventId)
  }

  /** Goes back to where it was once, `chance` of the way. */
  rewinds(chance: number) {
    this.lastEventId = this.#memory[Math.floor(chance * this.#memory.length)] ?? this.lastEventId
  }

  opens() {
    this.#head = this.#log.all.length
    this.#reader = new SseReader((line) => this.#line(line))
  }

  receives(bytes: Uint8Array) {
    this.#reader?.takes(bytes)
  }

  get barred(): boolean {
    return this.barredAt !== Number.POSITIVE_INFINITY
  }

  finishes() {
    this.#expect(this.#told, "a reason of the end")
  }

  /** The next event that it should have and has not. */
  get behind(): LoggedEvent | undefined {
    return this.position === undefined ? undefined : this.#next(this.position, "Z")
  }

  #line(line: string) {
    for (const at of [0, line.length >> 1, line.length - 1])
      this.trace = (Math.imul(this.trace, 31) + line.length + (line.charCodeAt(at) || 0)) | 0
    this.#expect(!this.#told, `nothing behind the end of a stream, not ${line}`)
    if (!this.#begun) {
      this.#begun = line === ": ok"
      this.#expect(this.#begun, `a greeting, not ${line}`)
    } else if (line === "") this.#block()
    else if (line.startsWith(":")) this.#comment(line)
    else if (line.startsWith("data: ")) this.#data = line.slice(6)
    else if (line.startsWith("event: ")) this.#event = line.slice(7)
    else if (line.startsWith("id: ")) this.#id = line.slice(4)
    else this.#expect(this.options.bookmarks && /^retry: \d+$/.test(line), `a field, not ${line}`)
  }

  #comment(line: string) {
    this.#expect(this.#id === undefined && this.#data === undefined, "no comment within a block")
    if (line === ":") {
      this.seen.beats += 1
      return
    }
    const [intro, reason = ""] = line.split("=")
    this.#expect(intro === ": closing reason", `no such comment: ${line}`)
    this.#expect(reason !== "revoked" || this.barred, "to keep its right")
    this.#expect(reason !== "draining" || this.#server.draining, "an instance that stays")
    this.#told = true
    this.closings.push(reason)
  }

  #block() {
    const id = this.#id
    const type = this.#event
    const data = this.#data
    this.#id = undefined
    this.#event = undefined
    this.#data = undefined
    if (id === undefined) {
      this.#expect(data === undefined && type === undefined, "an id with every event")
      return
    }
    this.lastEventId = id
    if (data === undefined) this.#bookmark(id)
    else this.#message(id, type, JSON.parse(data))
    if (this.#memory.push(id) > remembered) this.#memory.shift()
  }

  #bookmark(id: string) {
    this.#expect(this.options.bookmarks, "no bookmark without having asked")
    const position = eventPosition(id)
    if (this.position !== undefined) {
      const missed = this.#next(this.position, id)
      this.#expect(missed === undefined, `nothing left out before bookmark ${id}, but ${missed?.id}`)
      this.#expect(position >= this.position, `a bookmark that does not go back from ${this.position} to ${id}`)
    }
    this.position = position
  }

  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire
  #message(id: string, type: string | undefined, envelope: any) {
    const { org_id, project_id } = this.options.access
    this.#expect(envelope.id === id && envelope.type === type, "an envelope that matches its block")
    this.#expect(id > this.#lastOnStream, `ids that rise, not ${id} after ${this.#lastOnStream}`)
    this.#lastOnStream = id
    this.#expect(envelope.org_id === org_id, "events of its organization")
    if (type === "resume.gap.v1" || type === "overflow.v1") {
      this.#expect((envelope.project_id ?? null) === project_id, "a gap or an overflow of its own scope")
      this.#expect(id > envelope.data.latest_id && eventPosition(id) === envelope.data.latest_id, "a mark at the head")
      if (type === "resume.gap.v1") this.#gap(envelope.data)
      else this.#overflow(envelope.data)
      this.position = envelope.data.latest_id
    } else this.#logged(id, type, envelope)
  }

  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire
  #logged(id: string, type: string | undefined, envelope: any) {
    const { project_id } = this.options.access
    const stated = this.#log.find(id)
    if (stated === undefined || !this.#wants(stated))
      throw this.#violation(`an event in the log and in scope, not ${id}`)
    if (this.position !== undefined) {
      const expected = this.#next(this.position, id)
      this.#expect(expected?.id === id, `${expected?.id} next, not ${id}`)
    }
    if (stated.data["poison"] === true) {
      this.#expect(type === "error.v1" && envelope.source === "_broker", "an error in place of what cannot be sent")
      this.#expect((envelope.project_id ?? null) === project_id, "an error worded for one's own stream")
    } else {
      this.#expect(type === stated.type && envelope.data.n === stated.data["n"], "the event as it was stated")
      this.#expect((envelope.project_id ?? null) === stated.project_id, "the project as it was stated")
    }
    this.#expect(Date.parse(envelope.at) === stated.at.epochMilliseconds, "the instant as it was stated")
    const revoked = this.revokedBy === undefined ? undefined : this.#log.find(this.revokedBy)
    this.#expect(revoked === undefined || id < revoked.id, "nothing behind one's revocation")
    this.seen.events += 1
    this.position = id
  }

  #gap(data: { reason: string; last_event_id: string | null; oldest_id: string | null; latest_id: string }) {
    const { org_id, project_id } = this.options.access
    const { position } = this
    if (position === undefined) throw this.#violation("no gap without a position")
    this.#expect(data.reason === "too_old", `no gap ${data.reason} for an honest client`)
    this.#expect(data.last_event_id === this.#sent, "a gap that names the id it had sent")
    const oldest = data.oldest_id === null ? undefined : this.#log.find(data.oldest_id)
    this.#expect(data.oldest_id === null || (oldest !== undefined && this.#wants(oldest)), "an oldest event in scope")
    const evicted = this.#ring === undefined ? data.latest_id : this.#log.back(org_id, this.#head, this.#ring)
    const lost = this.#log.visible(org_id, project_id, position, evicted).next().done !== true
    this.#expect(lost || position < this.#log.forgotten(org_id), "a gap only where something is lost")
    this.seen.gaps += 1
  }

  #overflow(data: { dropped: number; latest_id: string }) {
    const { position } = this
    if (position !== undefined) {
      const { access } = this.options
      let lost = 0
      for (const event of this.#log.visible(access.org_id, access.project_id, position, data.latest_id))
        if (this.#wants(event)) lost += 1
      this.#expect(lost === data.dropped, `${lost} dropped, not ${data.dropped}`)
    }
    this.seen.overflows += 1
    this.#told = true
  }

  /** The first event of its stream after an id. */
  #next(after: string, upTo: string): LoggedEvent | undefined {
    const { access } = this.options
    for (const event of this.#log.visible(access.org_id, access.project_id, after, upTo))
      if (this.#wants(event)) return event
    return undefined
  }

  #wants({ data, internal, org_id, project_id, type }: LoggedEvent): boolean {
    const { access, types } = this.options
    return (
      !internal &&
      org_id === access.org_id &&
      (access.project_id === null || project_id === access.project_id) &&
      (types.length === 0 || types.includes(type) || data["poison"] === true)
    )
  }

  #expect(holds: boolean, expected: string) {
    if (!holds) throw this.#violation(expected)
  }

  #violation(expected: string) {
    return new Error(
      `${this.options.access.principal.session_id ?? this.options.access.principal.api_key_id} expected ${expected}`
    )
  }
}
