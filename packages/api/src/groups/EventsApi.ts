/**
 * Event streams and the durable log behind them, as data. A stream's handler returns a raw response of its own; the
 * frames are in docs/design/events.md, and `subscribe` reads them.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Envelope, ProjectId, reads } from "@narthex/core"
import { Authentication } from "../rules/Authentication.ts"
import { endpointRules } from "../rules/endpointRules.ts"
import { Limit, Pagination } from "../schemas/Paging.ts"
import { PolicyCheck } from "../rules/PolicyCheck.ts"
import { NotAcceptableProblem } from "../problems/Problems.ts"

export const EventStream = HttpApiSchema.StreamUint8Array({ contentType: "text/event-stream" })

/** A ULID in any letter case. */
export const EventId = Schema.String.check(Schema.isPattern(/^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$/u))

/** What a stream is asked for. A malformed `Last-Event-ID` is a gap, never a refusal: browsers would give up for good. */
const stream = {
  headers: { "last-event-id": Schema.optionalKey(Schema.String) },
  query: {
    types: Schema.optionalKey(Schema.String),
    bookmarks: Schema.optionalKey(Schema.String)
  },
  success: EventStream,
  error: NotAcceptableProblem
} as const

/** Ascending. `after` older than the log starts at its oldest event, and the page is not complete. */
export const EventHistory = Schema.Struct({
  events: Schema.Array(Envelope),
  pagination: Pagination,
  oldest_id: Schema.NullOr(Schema.String),
  complete: Schema.Boolean
})

const history = {
  query: {
    after: Schema.optionalKey(EventId),
    limit: Schema.optionalKey(Limit),
    cursor: Schema.optionalKey(Schema.String)
  },
  success: EventHistory
} as const

const params = { project_id: ProjectId }
const organization = reads("none", "organization")
const project = reads("project", "project")

export class EventsApi extends HttpApiGroup.make("events")
  .add(
    HttpApiEndpoint.get("stream", "/v1/events", stream).annotateMerge(
      endpointRules(organization, "Events of the organization as they happen", { streamsEvents: true })
    ),
    HttpApiEndpoint.get("history", "/v1/events/history", history).annotateMerge(
      endpointRules(organization, "Events of the organization from the log")
    ),
    HttpApiEndpoint.get("projectStream", "/v1/projects/:project_id/events", { ...stream, params }).annotateMerge(
      endpointRules(project, "Events of a project as they happen", { streamsEvents: true })
    ),
    HttpApiEndpoint.get("projectHistory", "/v1/projects/:project_id/events/history", {
      ...history,
      params
    }).annotateMerge(endpointRules(project, "Events of a project from the log"))
  )
  .middleware(PolicyCheck)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "Events", description: "Server-sent events and their history." })) {}
