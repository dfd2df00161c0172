/**
 * Serves `EventsApi`. The broker writes frames to the connection by itself, and no Effect fiber runs per event
 * (docs/design/events.md E25).
 */
import { Api, NotAcceptableProblem, pageRequest } from "@narthex/api"
import {
  defaultPageSize,
  EventHistory,
  EventSettings,
  EventStreams,
  type OrgId,
  Overviews,
  Principal,
  type ProjectId,
  streamRightOf,
  Target,
  type TooManyStreams
} from "@narthex/core"
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { acceptsEventStream } from "../events/acceptsEventStream.ts"
import { announce } from "../limits/Limits.ts"
import { problems } from "../toProblem.ts"
import { eventStreamHeaders, Transport } from "../transport/Transport.ts"

interface StreamCall {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly headers: { readonly "last-event-id"?: string }
  readonly query: { readonly types?: string; readonly bookmarks?: string; readonly lastEventId?: string }
}

interface HistoryQuery {
  readonly after?: string
  readonly cursor?: string
  readonly limit?: number
  readonly order?: "asc" | "desc"
  readonly include?: ReadonlyArray<"names">
}

/** Describes the limit that a stream exceeded in the same headers as every other rate limit. */
const announceLimit = Effect.fnUntraced(function* ({ limit, retry_after_seconds }: TooManyStreams) {
  const { limits } = yield* EventSettings
  if (limits === null) return
  const { instance_streams, opens, org_streams, streams } = limits
  const quota = { principal: streams, organization: org_streams, instance: instance_streams, opens }[limit]
  yield* announce({
    "ratelimit-policy": `"streams";q=${quota}${limit === "opens" ? ";w=1" : ""}`,
    ratelimit: `"streams";r=0;t=${retry_after_seconds}`
  })
})

export const EventsHandlers = HttpApiBuilder.group(
  Api,
  "events",
  Effect.fn(function* (handlers) {
    const events = yield* EventHistory
    const overviews = yield* Overviews
    const streams = yield* EventStreams
    const transport = yield* Transport

    const stream = Effect.fnUntraced(function* (project_id: ProjectId | null, { headers, query, request }: StreamCall) {
      if (!acceptsEventStream(request.headers["accept"])) return yield* new NotAcceptableProblem({})
      if (request.method === "HEAD") return HttpServerResponse.empty({ status: 200, headers: eventStreamHeaders })
      const answer = transport.streamed(request)
      const stream = yield* problems(
        streams
          .subscribe({
            ...streamRightOf(yield* Principal, project_id),
            types: (query.types ?? "").split(",").filter((type) => type !== ""),
            bookmarks: query.bookmarks === "1",
            last_event_id: headers["last-event-id"] ?? query.lastEventId,
            open: answer.open
          })
          .pipe(Effect.tapErrorTag("TooManyStreams", announceLimit))
      )
      return yield* answer.held(stream)
    })

    const history = Effect.fnUntraced(function* (org: OrgId, project: ProjectId | null, query: HistoryQuery) {
      const { cursor, limit = defaultPageSize } = query
      const page = yield* problems(
        Effect.fromResult(pageRequest({ limit, ...(cursor === undefined ? {} : { cursor }) }))
      )
      const after = query.after?.toUpperCase() ?? null
      const { next_cursor, ...found } = yield* problems(
        query.order === "desc"
          ? events.readNewest(org, project, after, page)
          : events.read(org, project, { after: page.after ?? after, limit })
      )
      const answer = { ...found, pagination: { next_cursor } }
      if (query.include?.includes("names") !== true) return answer
      return { ...answer, names: yield* problems(overviews.namesIn(yield* Principal, found.events)) }
    })

    return handlers.handleAll({
      stream: (call) => stream(null, call),
      projectStream: (call) => Effect.flatMap(Target.project, ({ id }) => stream(id, call)),
      history: Effect.fnUntraced(function* ({ query }) {
        return yield* history((yield* Principal).org_id, null, query)
      }),
      projectHistory: Effect.fnUntraced(function* ({ query }) {
        const { id, org_id } = yield* Target.project
        return yield* history(org_id, id, query)
      })
    })
  })
)
