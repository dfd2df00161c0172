/**
 * `narthex events tail`: the events of the organization, or of a project, as they happen (docs/design/cli.md C11).
 *
 * The client reconnects after a loss and after silence, with a note on standard error. Missed events are reported
 * twice: as a warning for people, and as an event in the output for programs, which must then read the current state.
 */
import { type Envelope, EventId, type StreamItem, type StreamPath } from "@narthex/api"
import { DateTime, Effect, Option, Schema, Stdio, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { Connection } from "../connection/Connection.ts"
import { Stopped } from "../failures/LocalFailure.ts"
import { lostSentence } from "../failures/lostSentence.ts"
import { onlyProjectFlag, pastedFlag } from "../input/flags.ts"
import { makeEventNames } from "../names/eventNames.ts"
import { projectNamed } from "../names/projects.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { eventText, makeEventLines } from "../tables/events.ts"
import { history } from "./eventHistory.ts"

const tail = Command.make(
  "tail",
  {
    project: onlyProjectFlag,
    types: pastedFlag("type").pipe(
      Flag.withDescription("Only events of this type; can be repeated"),
      Flag.atLeast(0),
      Flag.withDefault<ReadonlyArray<string>>([])
    ),
    after: pastedFlag("after").pipe(
      Flag.withMetavar("event_id"),
      Flag.withDescription("Resume after this event. Default: only new events"),
      Flag.filter(Schema.is(EventId), () => "Expected an event id, 26 characters"),
      Flag.optional
    ),
    exitOnGap: Flag.Boolean("exit-on-gap").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Exit with an error if events are missed"),
      Flag.withDefault(false)
    )
  },
  ({ after, exitOnGap, project, types }) =>
    reporting(
      Effect.gen(function* () {
        const api = yield* (yield* Connection).authenticated
        const path: StreamPath = Option.isSome(project)
          ? `/v1/projects/${yield* projectNamed(api, { name: project.value })}/events`
          : "/v1/events"
        const wanted = types.flatMap((type) => type.split(",")).filter((type) => type !== "")
        const items = api.client.subscribe({
          path,
          ...Option.match(after, { onNone: () => ({}), onSome: (id) => ({ lastEventId: id.toUpperCase() }) }),
          ...(wanted.length === 0 ? {} : { types: wanted })
        })
        const { stderrIsTerminal } = yield* Stdio.Stdio
        let greets = yield* stderrIsTerminal
        let lost = false
        const namesOf = makeEventNames(api)
        const lineOf = makeEventLines()
        const rowOf = (event: Envelope) => Effect.map(namesOf(event), (names) => lineOf(event, names))
        yield* Stream.runForEach(items, (item) =>
          Effect.gen(function* () {
            if (greets && item._tag === "Connected") {
              greets = false
              yield* (yield* Output).note("Following events. Ctrl-C ends.")
            }
            yield* show(item, lost, rowOf)
            if (item._tag === "Reconnecting") lost = true
            if (item._tag === "Connected") lost = false
            if (exitOnGap && (item._tag === "Gap" || item._tag === "Overflow"))
              return yield* new Stopped({
                message: "Events were missed, and --exit-on-gap is set.",
                hint: `read the current state, then resume with --after ${item.envelope.id}`
              })
          })
        )
      })
    )
).pipe(
  Command.withDescription("Print events as they happen, until interrupted"),
  Command.withExamples([
    { command: "narthex events tail" },
    {
      command: "narthex events tail --type operation.updated.v1 -o json | jq .data.status",
      description: "One JSON document per line"
    }
  ])
)

/** `lost`: the connection was lost and is not back yet. */
const show = Effect.fnUntraced(function* (
  item: StreamItem,
  lost: boolean,
  rowOf: (event: Envelope) => Effect.Effect<string>
) {
  const output = yield* Output
  switch (item._tag) {
    case "Connected":
      if (lost) yield* output.note("Reconnected.")
      return
    case "Reconnecting":
      return yield* output.note(`${lostSentence(item.why)} Reconnecting in ${(item.delay / 1000).toFixed(1)} s.`)
    case "Bookmark":
      return
    case "Unreadable":
      return yield* output.warn(`A ${item.event} frame is not an event that this version of narthex can read.`)
    case "Gap":
      yield* output.warn(`Events were missed (${item.reason}). Read the current state.`)
      break
    case "Overflow":
      yield* output.warn(
        `This client was too slow and missed ${item.dropped ?? "some"} events. Read the current state.`
      )
      break
    case "ProducerError":
      yield* output.warn("The server could not send an event.")
      break
    case "Event":
      break
  }
  yield* output.item({ body: item.sent, line: line(item.envelope), row: rowOf(item.envelope) })
})

const line = (event: Envelope): string =>
  [DateTime.formatIso(event.at), event.type, event.project_id ?? "-", eventText(event)].join("  ")

export const events = Command.make("events").pipe(
  Command.withDescription("Events as they happen"),
  Command.withSubcommands([tail, history])
)
