/**
 * `narthex api METHOD PATH`: any request to the API, with the credential of the run, for calls without a command.
 *
 * Pitfall: accepting a URL. A pasted URL would send the credential to its server, so only a path is accepted.
 */
import { readFileSync } from "node:fs"
import { problems, readProblem } from "@narthex/api"
import { Effect, Option, Schema, Stdio, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { Connection } from "../connection/Connection.ts"
import { UsageMistake } from "../failures/LocalFailure.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"

const methods = ["GET", "POST", "PATCH", "PUT", "DELETE", "HEAD"] as const

const isPath = (text: string) => /^\/(?!\/)[\x21-\x7e]*$/.test(text) && !text.includes("\\")

export const rawApi = Command.make(
  "api",
  {
    method: Argument.Literals("method", [...methods, ...methods.map((method) => method.toLowerCase())]).pipe(
      Argument.withDescription("GET, POST, PATCH, DELETE, …")
    ),
    path: Argument.String("path").pipe(
      Argument.withDescription("The path with its query, for example /v1/projects?limit=5"),
      Argument.filter(isPath, () => "Expected a path that begins with a single slash")
    ),
    body: Flag.String("body").pipe(
      Flag.withMetavar("json"),
      Flag.withDescription("The request body: JSON, @file, or - for standard input"),
      Flag.optional
    )
  },
  ({ body, method, path }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const { raw } = yield* (yield* Connection).authenticated
        const verb = methods.find((known) => known === method.toUpperCase()) ?? "GET"
        const bare = HttpClientRequest.make(verb)(path)
        const request = Option.isNone(body)
          ? bare
          : HttpClientRequest.bodyText(bare, yield* readBody(body.value), "application/json")
        const response = yield* raw.execute(request)
        if (response.status >= 400) return yield* Effect.flatMap(problemOf(response), Effect.fail)
        if (!/json/.test(response.headers["content-type"] ?? "")) {
          const lines = response.stream.pipe(Stream.decodeText(), Stream.splitLines)
          return yield* Stream.runForEach(lines, (line) => output.text(line))
        }
        const text = yield* response.text
        if (text === "") return
        const answer: unknown = yield* parse(text)
        yield* output.answer({ body: answer, table: { _tag: "Raw", text: JSON.stringify(answer, null, 2) } })
      })
    )
).pipe(
  Command.withDescription("Send any request to the API, with the credential of the command line"),
  Command.withExamples([
    { command: "narthex api GET /v1/projects" },
    { command: `narthex api POST /v1/projects --body '{"name":"shop"}'` }
  ])
)

const parse = Schema.decodeEffect(Schema.fromJsonString(Schema.Unknown))

const decodeProblem = Schema.decodeOption(Schema.fromJsonString(Schema.Union(Object.values(problems))))

/** Decodes all members that the contract defines, so that `-o json` prints the whole problem. */
const problemOf = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.gen(function* () {
    const known = decodeProblem(yield* response.text)
    return Option.isSome(known) ? known.value : yield* readProblem(response)
  })

const readBody = Effect.fnUntraced(function* (given: string) {
  const { stdin } = yield* Stdio.Stdio
  if (given === "-")
    return yield* stdin.pipe(
      Stream.decodeText(),
      Stream.mkString,
      Effect.mapError(() => new UsageMistake({ message: "Standard input cannot be read." }))
    )
  if (!given.startsWith("@")) return given
  return yield* Effect.try({
    try: () => readFileSync(given.slice(1), "utf8"),
    catch: () => new UsageMistake({ message: `${given.slice(1)} cannot be read.` })
  })
})
