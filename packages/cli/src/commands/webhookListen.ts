/**
 * `narthex webhook listen`: posts the events of the stream to a receiver on this machine, as a webhook would, signed with
 * a secret of its own. For developers, whose machine no webhook reaches.
 *
 * Each event is posted once. A receiver that fails is reported, and gets no second attempt.
 */
import { type Envelope, makeSigningSecret, type StreamPath, signedHeaders, webhookBody } from "@narthex/api"
import { Clock, DateTime, Effect, Option, Redacted, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { Connection } from "../connection/Connection.ts"
import { UsageMistake } from "../failures/LocalFailure.ts"
import { lostSentence } from "../failures/lostSentence.ts"
import { onlyProjectFlag, pastedArgument } from "../input/flags.ts"
import { projectNamed } from "../names/projects.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { typesFlag, typesOf } from "./webhookFlags.ts"

/** The URL of a receiver: a port of this machine, or a whole URL. */
const receiverOf = Effect.fnUntraced(function* (text: string) {
  const url = URL.parse(/^\d+$/.test(text) ? `http://127.0.0.1:${text}/` : text)
  if (url !== null && (url.protocol === "http:" || url.protocol === "https:")) return url.href
  return yield* new UsageMistake({
    message: `"${text}" is neither a port nor a URL.`,
    hint: "narthex webhook listen http://localhost:3000/hooks"
  })
})

/** The status of the answer, or why there was none. */
const posted = Effect.fnUntraced(function* (url: string, secret: Redacted.Redacted, event: Envelope) {
  const body = webhookBody(event)
  const timestamp = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  const headers = yield* signedHeaders({ id: event.id, timestamp, body }, [secret])
  return yield* Effect.tryPromise(async (signal) => {
    const answer = await fetch(url, {
      ...{ method: "POST", body, redirect: "manual", signal },
      headers: { ...headers, "content-type": "application/json" }
    })
    await answer.body?.cancel()
    return String(answer.status)
  }).pipe(
    Effect.timeout("15 seconds"),
    Effect.orElseSucceed(() => "no answer")
  )
})

export const listen = Command.make(
  "listen",
  {
    receiver: pastedArgument("receiver").pipe(
      Argument.withDescription("The port of a receiver on this machine, or its URL")
    ),
    project: onlyProjectFlag,
    types: typesFlag
  },
  ({ project, receiver, types }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const url = yield* receiverOf(receiver)
        const api = yield* (yield* Connection).authenticated
        const path: StreamPath = Option.isSome(project)
          ? `/v1/projects/${yield* projectNamed(api, { name: project.value })}/events`
          : "/v1/events"
        const wanted = typesOf(types)
        const secret = yield* makeSigningSecret
        yield* output.note(`The signing secret is ${Redacted.value(secret)}, until this command ends.`)
        const items = api.client.subscribe({ path, ...(wanted.length === 0 ? {} : { types: wanted }) })
        yield* Stream.runForEach(items, (item) => {
          switch (item._tag) {
            case "Event":
            case "Gap":
              return Effect.flatMap(posted(url, secret, item.envelope), (answer) => {
                const { at, id, type } = item.envelope
                const line = [DateTime.formatIso(at), type, id, answer].join("  ")
                return output.item({ body: { id, type, answer }, line, row: Effect.succeed(line) })
              })
            case "Reconnecting":
              return output.note(`${lostSentence(item.why)} Reconnecting in ${(item.delay / 1000).toFixed(1)} s.`)
            default:
              return Effect.void
          }
        })
      })
    )
).pipe(
  Command.withDescription("Post events as they happen to a receiver on this machine, signed with a secret of its own"),
  Command.withExamples([
    { command: "narthex webhook listen 3000" },
    { command: "narthex webhook listen http://localhost:3000/hooks --type operation.updated.v1" }
  ])
)
