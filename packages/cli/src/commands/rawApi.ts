/**
 * `narthex api METHOD PATH`: any request to the API, with the credential of the run, for calls without a command.
 *
 * Pitfall: accepting a URL. A pasted URL would send the credential to its server, so only a path is accepted.
 */
import { readFileSync } from "node:fs"
import { problemOfBody, readProblem } from "@narthex/api"
import { Effect, Option, Schema, Stdio, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { Connection } from "../connection/Connection.ts"
import { everyPageOf } from "../connection/everyPageOf.ts"
import { withoutMark } from "../environment/withoutMark.ts"
import { NotFiltered, UsageMistake } from "../failures/LocalFailure.ts"
import { nested, splitField, typedValue } from "../input/fields.ts"
import { JqFilter } from "../output/JqFilter.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"

const methods = ["GET", "POST", "PATCH", "PUT", "DELETE", "HEAD"] as const

const isPath = (text: string) => /^\/(?!\/)[\x21-\x7e]*$/.test(text) && !text.includes("\\")

const isField = (text: string) => /^[^=[\]]+(\[[^=[\]]*\])*=/.test(text)

const fieldFlag = (name: string, alias: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withAlias(alias),
    Flag.withMetavar("key=value"),
    Flag.withDescription(description),
    Flag.filter(isField, () => "Expected key=value; a key can be name, member[name] or list[]"),
    Flag.atLeast(0),
    // Without a default, the help says that the flag is required.
    Flag.withDefault<ReadonlyArray<string>>([])
  )

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
    texts: fieldFlag("raw-field", "f", "A member of the body that is a text; of the query with GET. Can be repeated"),
    values: fieldFlag(
      "field",
      "F",
      "The same with a typed value: true, false, null, a number, JSON, @file, or @- for standard input"
    ),
    input: Flag.String("input").pipe(
      Flag.withMetavar("file"),
      Flag.withDescription("A file with the request body, or - for standard input"),
      Flag.optional
    ),
    body: Flag.String("body").pipe(
      Flag.withMetavar("json"),
      Flag.withDescription("The request body: JSON, @file, or - for standard input"),
      Flag.optional
    ),
    paginate: Flag.Boolean("paginate").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Read every page of a list and join them"),
      Flag.withDefault(false)
    )
  },
  ({ body, input, method, paginate, path, texts, values }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const verb = methods.find((known) => known === method.toUpperCase()) ?? "GET"
        const hasFields = texts.length + values.length > 0
        if ([Option.isSome(body), Option.isSome(input), hasFields].filter(Boolean).length > 1)
          return yield* new UsageMistake({ message: "Give the body by one of --body, --input and fields." })
        if (paginate && verb !== "GET")
          return yield* new UsageMistake({ message: "--paginate is for GET: only lists have pages." })
        const { raw } = yield* (yield* Connection).authenticated
        const fields = yield* fieldsOf(texts, values)
        const inQuery = verb === "GET" || verb === "HEAD"
        const bare = HttpClientRequest.make(verb)(inQuery ? withQuery(path, fields) : path)
        const text = Option.isSome(input)
          ? yield* readText(input.value)
          : Option.isSome(body)
            ? yield* readBody(body.value)
            : hasFields && !inQuery
              ? JSON.stringify(fields)
              : undefined
        const request = text === undefined ? bare : HttpClientRequest.bodyText(bare, text, "application/json")
        const answers = (body: unknown) =>
          output.answer({ body, table: { _tag: "Raw", text: JSON.stringify(body, null, 2) } })
        const once = (request: HttpClientRequest.HttpClientRequest) =>
          Effect.tap(raw.execute(request), (response) =>
            response.status >= 400 ? Effect.flatMap(problemOf(response), Effect.fail) : Effect.void
          )
        if (paginate)
          return yield* Effect.flatMap(
            everyPageOf((cursor) =>
              Effect.flatMap(
                once(cursor === null ? request : HttpClientRequest.setUrlParam(request, "cursor", cursor)),
                (response) => Effect.flatMap(response.text, parse)
              )
            ),
            answers
          )
        const response = yield* once(request)
        if (!/json/.test(response.headers["content-type"] ?? "")) {
          if ((yield* JqFilter) !== undefined) return yield* NotFiltered.because("it is not JSON")
          const lines = response.stream.pipe(Stream.decodeText(), Stream.splitLines)
          return yield* Stream.runForEach(lines, output.foreign)
        }
        const answer = yield* response.text
        if (answer !== "") yield* Effect.flatMap(parse(answer), answers)
      })
    )
).pipe(
  Command.withDescription("Send any request to the API, with the credential of the command line"),
  Command.withExamples([
    { command: "narthex api GET /v1/projects --paginate" },
    { command: "narthex api POST /v1/projects -f name=shop" },
    {
      command: "narthex api PATCH /v1/projects/prj-…/endpoints/ep-… -F suspend_timeout_seconds=300",
      description: "-F sends a number, true, false, null or JSON; -f always text"
    }
  ])
)

/** Fields become the query of a request without a body. */
const withQuery = (path: string, fields: Readonly<Record<string, unknown>>): string => {
  const query = new URLSearchParams(
    Object.entries(fields).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)])
  ).toString()
  return query === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${query}`
}

const fieldsOf = Effect.fnUntraced(function* (texts: ReadonlyArray<string>, values: ReadonlyArray<string>) {
  const typed = yield* Effect.forEach(values, (field) => {
    const [key, text] = splitField(field)
    return Effect.map(
      text.startsWith("@") ? readText(text.slice(1)) : Effect.succeed(typedValue(text)),
      (value) => [key, value] as const
    )
  })
  return yield* Effect.fromResult(nested([...texts.map(splitField), ...typed]))
})

const parse = Schema.decodeEffect(Schema.fromJsonString(Schema.Unknown))

const parsed = Schema.decodeOption(Schema.fromJsonString(Schema.Unknown))

/** Decodes all members that the contract defines, so that `-o json` prints the whole problem. */
const problemOf = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.gen(function* () {
    const known = Option.flatMap(parsed(yield* response.text), problemOfBody)
    return Option.isSome(known) ? known.value : yield* readProblem(response)
  })

/** `--body`: the text itself, `@file`, or `-`. */
const readBody = (given: string) => {
  if (given === "-") return readText(given)
  return given.startsWith("@") ? readText(given.slice(1)) : Effect.succeed(given)
}

/** The content of a file; `-` is standard input. */
const readText = Effect.fnUntraced(function* (file: string) {
  const { stdin } = yield* Stdio.Stdio
  if (file === "-")
    return yield* stdin.pipe(
      Stream.decodeText(),
      Stream.mkString,
      Effect.mapError(() => new UsageMistake({ message: "Standard input cannot be read." }))
    )
  return yield* Effect.try({
    try: () => withoutMark(readFileSync(file, "utf8")),
    catch: () => new UsageMistake({ message: `${file} cannot be read.` })
  })
})
