/**
 * A client of a simulated world, which believes nothing: it checks every block it gets against the log itself.
 *
 * The rules: ids rise strictly along a stream; everything is in scope; between a position and the next event nothing
 * was left out, unless the stream said so by a gap or an overflow; and nothing comes after one's revocation.
 */
import type { LoggedEvent } from "../../../src/events/Envelope.ts"
import { eventPosition, noEvent } from "../../../src/events/EventId.ts"
import type { StreamOptions } from "../../../src/events/Subscription.ts"
import type { SimLog } from "./SimLog.ts"

export type SimOptions = Omit<StreamOptions, "expires_at">

interface Block {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: string | undefined
}

export class SimClient {
  readonly name: string
  readonly options: SimOptions
  /** What it would send as `Last-Event-ID`. */
  lastEventId: string | undefined
  /** The position up to which it knows that nothing is missing. */
  position: string | undefined
  connections = 0
  readonly seen = { events: 0, gaps: 0, overflows: 0, closings: [] as string[] }
  readonly #log: SimLog
  readonly #ring: number
  #decoder = new TextDecoder()
  #text = ""
  #block: { id?: string; event?: string; data?: string } = {}
  #lastOnStream = ""
  #over = false
  /** The log's head when the stream was opened. */
  #head = 0

  constructor(name: string, options: SimOptions, log: SimLog, ring: number) {
    this.name = name
    this.options = options
    this.#log = log
    this.#ring = ring
  }

  /** A new connection begins: an unfinished block of the last one is lost. */
  connects() {
    this.connections += 1
    this.#decoder = new TextDecoder()
    this.#text = ""
    this.#block = {}
    this.#lastOnStream = ""
    this.#over = false
    this.position = this.lastEventId === undefined ? undefined : eventPosition(this.lastEventId)
  }

  opens() {
    this.#head = this.#log.all.length
  }

  receives(bytes: Uint8Array) {
    this.#text += this.#decoder.decode(bytes, { stream: true })
    for (;;) {
      const end = this.#text.indexOf("\n")
      if (end < 0) return
      this.#line(this.#text.slice(0, end))
      this.#text = this.#text.slice(end + 1)
    }
  }

  /** Has it everything that there is? */
  get behind(): ReadonlyArray<LoggedEvent> {
    return this.position === undefined ? [] : this.#wanted(this.position, "Z")
  }

  #line(line: string) {
    if (line.startsWith(":")) {
      const reason = /^: closing reason=(\w+)$/.exec(line)?.[1]
      if (reason !== undefined) this.seen.closings.push(reason)
      return
    }
    if (line !== "") {
      const [, field, value] = /^(id|event|data|retry): (.+)$/.exec(line) ?? []
      this.#expect(field !== undefined && value !== undefined, `a field, not ${line}`)
      this.#block = { ...this.#block, [field ?? ""]: value }
      return
    }
    const { data, event, id }: Partial<Block> = this.#block
    this.#block = {}
    if (id !== undefined) this.lastEventId = id
    if (data !== undefined && id !== undefined) this.#message(id, event, JSON.parse(data))
    else if (id !== undefined) this.#bookmark(id)
  }

  #bookmark(id: string) {
    this.#expect(this.options.bookmarks, "no bookmark without having asked")
    const missed = this.position === undefined ? [] : this.#wanted(this.position, id)
    this.#expect(missed.length === 0, `nothing left out before bookmark ${id}, but ${missed[0]?.id}`)
    const position = eventPosition(id)
    this.position = this.position !== undefined && this.position > position ? this.position : position
  }

  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire
  #message(id: string, type: string | undefined, envelope: any) {
    const { org_id, project_id } = this.options.access
    this.#expect(!this.#over, "nothing behind an overflow")
    this.#expect(envelope.id === id && envelope.type === type, "an envelope that matches its block")
    this.#expect(id > this.#lastOnStream, `ids that rise, not ${id} after ${this.#lastOnStream}`)
    this.#lastOnStream = id
    this.#expect(envelope.org_id === org_id, "events of one's organization")
    if (type === "resume.gap.v1") this.#gap(id, envelope.data)
    else if (type === "overflow.v1") this.#overflow(id, envelope.data)
    else {
      this.#expect(project_id === null || envelope.project_id === project_id, "events of one's project")
      const [expected] = this.#wanted(this.position ?? "", id)
      this.#expect(expected !== undefined, `an event that is in the log and in scope, not ${id}`)
      if (this.position !== undefined) this.#expect(expected?.id === id, `${expected?.id} next, not ${id}`)
      const stated = this.#find(id)
      this.#expect(type === (stated?.data["poison"] === true ? "error.v1" : stated?.type), "the event as it was stated")
      this.#expect(id <= (this.revokedAt ?? id), "nothing behind one's revocation")
      this.seen.events += 1
      this.position = id
    }
  }

  /** The id of the revocation of this client, once it is in the log. */
  get revokedAt(): string | undefined {
    const { user_id } = this.options.access.principal
    return this.#log.all.find((event) => event.internal && event.data["user_id"] === user_id)?.id
  }

  #gap(id: string, data: { reason: string; latest_id: string }) {
    const { org_id, project_id } = this.options.access
    this.#expect(eventPosition(id) === data.latest_id, "a gap that stands at the head")
    this.#expect(this.position !== undefined, "no gap for whoever did not resume")
    if (data.reason === "too_old") {
      const own = this.#log.all.slice(0, this.#head).filter((event) => event.org_id === org_id)
      const evicted = own.at(-1 - this.#ring)?.id ?? noEvent
      const lost = this.#log.visible(org_id, project_id, this.position ?? "", evicted)
      const forgotten = (this.position ?? "") < (this.#log.forgotten.get(org_id) ?? noEvent)
      this.#expect(lost.length > 0 || forgotten, "a gap only where something is lost")
    } else this.#expect(false, `no gap ${data.reason} for an honest client`)
    this.seen.gaps += 1
    this.position = data.latest_id
  }

  #overflow(id: string, data: { dropped: number; latest_id: string }) {
    this.#expect(eventPosition(id) === data.latest_id, "an overflow that stands at the head")
    if (this.position !== undefined) {
      const lost = this.#wanted(this.position, data.latest_id).length
      this.#expect(lost === data.dropped, `${lost} dropped, not ${data.dropped}`)
    }
    this.seen.overflows += 1
    this.#over = true
    this.position = data.latest_id
  }

  #find(id: string) {
    return this.#log.all.find((event) => event.id === id)
  }

  #wanted(after: string, upTo: string): ReadonlyArray<LoggedEvent> {
    const { access, types } = this.options
    return this.#log
      .visible(access.org_id, access.project_id, after, upTo)
      .filter((event) => types.length === 0 || types.includes(event.type) || event.data["poison"] === true)
  }

  #expect(holds: boolean, expected: string) {
    if (!holds) throw new Error(`${this.name} expected ${expected}`)
  }
}
