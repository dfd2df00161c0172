/**
 * Events as bytes of a stream (docs/design/events.md E2): one `id:`, one `event:`, one `data:` line.
 *
 * JSON has no raw line breaks and types are checked, so nothing in an event can end a line early.
 * An event that cannot be encoded, or is too large, becomes `error.v1` in its place and with its id (E34): the client
 * learns that an event is missing there, and nothing after it is held up.
 */
import { DateTime, Result } from "effect"
import type { OrgId, ProjectId, RegionId } from "../../../Ids.ts"
import type { EventData, LoggedEvent } from "../../../records/events/Envelope.ts"
import { overflowId, resumeGapId } from "../../../records/events/EventId.ts"
import type { EventTypeOf } from "../../../records/events/eventCatalog.ts"

const encoder = new TextEncoder()

/** A text as bytes of a stream. */
export const bytesOf = (text: string): Uint8Array => encoder.encode(text)

const eventType = /^[a-z0-9_]+(\.[a-z0-9_]+)*\.v\d+$/

/** The envelope with its time as text. */
interface Written {
  readonly id: string
  readonly type: string
  readonly source: string
  readonly org_id: OrgId
  readonly project_id?: ProjectId
  readonly region_id: RegionId
  readonly at: string
  readonly data: EventData
}

/** The organization and project that a broker frame is sent to, and the region of the sender. */
export interface FrameScope {
  readonly org_id: OrgId
  readonly project_id: ProjectId | null
  readonly region_id: RegionId
}

const block = (envelope: Written) =>
  `id: ${envelope.id}\nevent: ${envelope.type}\ndata: ${JSON.stringify(envelope)}\n\n`

const brokerFrame = (scope: FrameScope, id: string, type: EventTypeOf<"_broker">, at: DateTime.Utc, data: EventData) =>
  bytesOf(
    block({
      id,
      type,
      source: "_broker",
      org_id: scope.org_id,
      ...(scope.project_id === null ? {} : { project_id: scope.project_id }),
      region_id: scope.region_id,
      at: DateTime.formatIso(at),
      data
    })
  )

/** A logged event, not an internal one, as streams send it. */
export type EncodedEvent =
  | { readonly _tag: "Frame"; readonly bytes: Uint8Array }
  /** `error.v1`: one frame for the organization's streams, one for the project's. */
  | { readonly _tag: "Poison"; readonly org: Uint8Array; readonly project: Uint8Array | undefined }

const poison = (event: LoggedEvent, code: string, message: string): EncodedEvent => {
  const frame = (project_id: ProjectId | null) =>
    brokerFrame({ ...event, project_id }, event.id, "error.v1", event.at, { code, message })
  return {
    _tag: "Poison",
    org: frame(null),
    project: event.project_id === null ? undefined : frame(event.project_id)
  }
}

/** The event as a frame of at most `limit` bytes. */
export const encodeEvent = (event: LoggedEvent, limit: number): EncodedEvent => {
  const unencodable = () =>
    poison(event, "event_unencodable", "An event here could not be written. Fetch the current state.")
  if (!eventType.test(event.type)) return unencodable()
  const written = Result.try(() =>
    bytesOf(
      block({
        id: event.id,
        type: event.type,
        source: event.source,
        org_id: event.org_id,
        ...(event.project_id === null ? {} : { project_id: event.project_id }),
        region_id: event.region_id,
        at: DateTime.formatIso(event.at),
        data: event.data
      })
    )
  )
  if (Result.isFailure(written)) return unencodable()
  return written.success.length <= limit
    ? { _tag: "Frame", bytes: written.success }
    : poison(event, "event_too_large", "An event here was too large. Fetch the current state.")
}

export type GapReason = "malformed" | "ahead" | "too_old"

export interface Gap {
  readonly reason: GapReason
  /** The id that the client sent, if it is a ULID. */
  readonly last_event_id: string | null
  /** The oldest event of the scope that could be replayed. */
  readonly oldest_id: string | null
  readonly latest_id: string
}

const historyUrl = (scope: FrameScope, gap: Gap) => {
  const path =
    scope.project_id === null
      ? "/v1/events/history"
      : `/v1/projects/${encodeURIComponent(scope.project_id)}/events/history`
  return gap.reason === "too_old" && gap.last_event_id !== null ? `${path}?after=${gap.last_event_id}` : path
}

export const resumeGapFrame = (scope: FrameScope, at: DateTime.Utc, gap: Gap): Uint8Array =>
  brokerFrame(scope, resumeGapId(gap.latest_id), "resume.gap.v1", at, { ...gap, history_url: historyUrl(scope, gap) })

export const overflowFrame = (scope: FrameScope, at: DateTime.Utc, dropped: number, latest_id: string): Uint8Array =>
  brokerFrame(scope, overflowId(latest_id), "overflow.v1", at, { dropped, latest_id })

/** A comment line. Clients ignore it; proxies that close idle connections see traffic. */
export const comment = (text: string): string => (text === "" ? ":\n" : `: ${text}\n`)

/**
 * Moves a client's position without an event (E11).
 *
 * Pitfall: adding an empty `data:` line. Old clients parse it as JSON and fail.
 */
export const bookmark = (id: string): string => `id: ${id}\n\n`

/** Tells a client how many milliseconds to wait before it reconnects. */
export const retry = (millis: number): string => `retry: ${Math.round(millis)}\n\n`
