/**
 * The envelope that clients receive (docs/design/events.md E1–E5), and an event before and after the log gives it an id.
 *
 * The envelope only ever gains members. Internal events are in the same order as all others, so that a revocation acts
 * before events committed after it; clients never see them.
 */
import { type DateTime, Schema } from "effect"
import { described, isStorable, OrgId, ProjectId, RegionId } from "../../Ids.ts"

export const EventData = Schema.Record(Schema.String, Schema.Json)
export type EventData = typeof EventData.Type

/**
 * The data as it is logged: U+FFFD for NUL and for half of a surrogate pair. JSON can hold both, but databases cannot,
 * and a refusal would undo the change that the event reports.
 */
export const loggedData = (data: EventData): EventData => {
  // The same JSON with other text.
  const logged = (value: Schema.Json): Schema.Json => {
    if (typeof value === "string") return isStorable(value) ? value : described(value, value.length)
    if (typeof value !== "object" || value === null) return value
    return Array.isArray(value) ? value.map(logged) : loggedData(value as EventData)
  }
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [described(name, name.length), logged(value)]))
}

export class Envelope extends Schema.Class<Envelope>("Envelope")({
  /** ULID, 26 characters; rises strictly along a stream. */
  id: Schema.String,
  type: Schema.String,
  source: Schema.String,
  org_id: OrgId,
  project_id: Schema.optionalKey(ProjectId),
  region_id: RegionId,
  at: Schema.DateTimeUtcFromString,
  data: EventData
}) {}

/** An event as its producer states it. The transaction adds region and time. */
export interface NewEvent {
  readonly org_id: OrgId
  /** `null` for an event of the whole organization. */
  readonly project_id: ProjectId | null
  readonly type: string
  readonly source: string
  readonly internal: boolean
  readonly data: EventData
}

/** An event as it is appended to the log, in the transaction that causes it. */
export interface EmittedEvent extends NewEvent {
  readonly region_id: RegionId
  readonly at: DateTime.Utc
}

/** An event in the log: `pos` is dense and rises with `id`, over all organizations. */
export interface LoggedEvent extends EmittedEvent {
  readonly pos: number
  readonly id: string
}

/** The envelope of a logged event, as clients see it. */
export const toEnvelope = (event: LoggedEvent): Envelope =>
  new Envelope({
    id: event.id,
    type: event.type,
    source: event.source,
    org_id: event.org_id,
    ...(event.project_id === null ? {} : { project_id: event.project_id }),
    region_id: event.region_id,
    at: event.at,
    data: event.data
  })
