/** `narthex events history`: past events of the organization or of a project, newest first. */
import { EventId } from "@narthex/api"
import { Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { everyPage, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { given, onlyProjectFlag, partFlags, pastedFlag } from "../input/flags.ts"
import { projectNamed } from "../names/projects.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { instant, rows } from "../output/table.ts"
import { eventText } from "../tables/events.ts"
import { noteMore } from "../tables/noteMore.ts"

/** Events after `--after` are the oldest first, because then the reader continues from there. */
export const history = Command.make(
  "history",
  {
    project: onlyProjectFlag,
    after: pastedFlag("after").pipe(
      Flag.withMetavar("event_id"),
      Flag.withDescription("Only events after this one, the oldest first. Default: the newest first"),
      Flag.filter(Schema.is(EventId), () => "Expected an event id, 26 characters"),
      Flag.optional
    ),
    ...partFlags(100)
  },
  ({ after, cursor, limit, project }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const { events } = api.client.api
        const asked = Effect.gen(function* () {
          const order = Option.isSome(after) ? ("asc" as const) : ("desc" as const)
          const wanted = { order, ...given("after", after) }
          const part = { limit, ...given("cursor", cursor) }
          if (Option.isNone(project))
            return yield* everyPage(
              "events",
              (page) => events.history({ query: { ...wanted, ...page }, ...withBody }),
              part
            )
          const params = { project_id: yield* projectNamed(api, { name: project.value }) }
          return yield* everyPage(
            "events",
            (page) => events.projectHistory({ params, query: { ...wanted, ...page }, ...withBody }),
            part
          )
        })
        const { body, value } = yield* output.waiting("Reading the events", asked)
        yield* output.answer({
          body,
          table: rows(
            ["at", "type", "project", "what", "id"],
            ...value.map((event) => [instant(event.at), event.type, event.project_id, eventText(event), event.id])
          ),
          empty: "There are no events."
        })
        yield* noteMore(body)
      })
    )
).pipe(
  Command.withDescription("List past events, the newest first"),
  Command.withExamples([
    { command: "narthex events history --limit 20" },
    { command: "narthex events history --project shop -o json | jq -r '.events[].type'" }
  ])
)
