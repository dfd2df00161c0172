/**
 * The endpoints of event streams and of the event history. Frames are specified in docs/design/events.md; `subscribe`
 * reads them.
 */
import { Envelope, ProjectId, reads } from "@narthex/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { NotAcceptableProblem } from "../problems/Problems.ts"
import { Authentication } from "../rules/Authentication.ts"
import { endpointRules } from "../rules/endpointRules.ts"
import { PolicyCheck } from "../rules/PolicyCheck.ts"
import { includeOf } from "../schemas/Include.ts"
import { Limit, Pagination } from "../schemas/Paging.ts"
import { NamesRecord } from "../schemas/Shapes.ts"
import { streamAnswer } from "../schemas/texts.ts"

export const EventStream = HttpApiSchema.StreamUint8Array({ contentType: "text/event-stream" })

/** A ULID in any letter case. */
export const EventId = Schema.String.check(Schema.isPattern(/^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$/u))

/**
 * The request of a stream. A malformed `Last-Event-ID` is a gap and never a refusal: a browser does not reconnect after a
 * refusal.
 */
const stream = {
  headers: { "last-event-id": Schema.optionalKey(Schema.String) },
  query: {
    types: Schema.optionalKey(Schema.String),
    bookmarks: Schema.optionalKey(Schema.String),
    // Spelled as `EventSource` spells it: its substitutes send the position here.
    lastEventId: Schema.optionalKey(Schema.String)
  },
  success: EventStream,
  error: NotAcceptableProblem
} as const

/**
 * If `after` is older than the log, the oldest event that is kept is the first, and `complete` is `false`. `names` is
 * there where the query asks for it.
 */
export const EventHistory = Schema.Struct({
  events: Schema.Array(Envelope),
  pagination: Pagination,
  oldest_id: Schema.NullOr(Schema.String),
  complete: Schema.Boolean,
  names: Schema.optionalKey(NamesRecord)
})

const history = {
  query: {
    after: Schema.optionalKey(EventId),
    limit: Schema.optionalKey(Limit),
    cursor: Schema.optionalKey(Schema.String),
    order: Schema.optionalKey(Schema.Literals(["asc", "desc"])),
    include: includeOf("names")
  },
  success: EventHistory
} as const

const params = { project_id: ProjectId }
const historyText =
  "Pages of the durable log, for those who missed events. If `after` is older than the log, the oldest event that is kept is the first one and `complete` is `false`. `include=names` adds the names of what the events mention."
const streamText =
  "Every change as a server-sent event. `Last-Event-ID` resumes after an event; where events are missing, a `resume.gap.v1` says so, and the client reads the state again. A stream ends with its credential, and after 30 minutes at the latest; clients reconnect."
const organization = reads("none", "organization")
const project = reads("project", "project")

export class EventsApi extends HttpApiGroup.make("events")
  .add(
    HttpApiEndpoint.get("stream", "/v1/events", stream).annotateMerge(
      endpointRules(organization, {
        summary: "Stream the events of the organization",
        text: `${streamText} The stream has the events of all projects.`,
        answer: streamAnswer,
        streamsEvents: true
      })
    ),
    HttpApiEndpoint.get("history", "/v1/events/history", history).annotateMerge(
      endpointRules(organization, {
        summary: "List past events of the organization",
        text: historyText,
        answer: "A page of events."
      })
    ),
    HttpApiEndpoint.get("projectStream", "/v1/projects/:project_id/events", { ...stream, params }).annotateMerge(
      endpointRules(project, {
        summary: "Stream the events of a project",
        text: `${streamText} The stream has the events of one project.`,
        answer: streamAnswer,
        streamsEvents: true
      })
    ),
    HttpApiEndpoint.get("projectHistory", "/v1/projects/:project_id/events/history", {
      ...history,
      params
    }).annotateMerge(
      endpointRules(project, {
        summary: "List past events of a project",
        text: historyText,
        answer: "A page of events."
      })
    )
  )
  .middleware(PolicyCheck)
  .middleware(Authentication)
  .annotateMerge(
    OpenApi.annotations({
      title: "Events",
      description:
        "Server-sent events and their history. A program that embeds the control plane may publish types of its own, with the source `host`. Clients ignore types and members that they do not know."
    })
  ) {}
