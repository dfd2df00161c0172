/**
 * The endpoints of the contract at run time: how a flat input becomes the parts of a request, how an answer becomes
 * JSON, and which codes a call can reject with. Made once, when the first client makes its first call.
 */
import { Context, Effect, Schema, SchemaAST } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import { Api } from "../../Api.ts"
import { clientFailures, type NarthexError } from "../../problems/NarthexError.ts"
import { ShowsSecret, StreamsEvents } from "../../rules/endpointRules.ts"
import { invalidInput } from "./invalidInput.ts"

type Members = Readonly<Record<string, unknown>>
/** The schemas of the contract need no services, which the types of endpoints at run time do not say. */
const pure = (schema: unknown) => schema as Schema.Codec<unknown, unknown>

const parts = ["params", "query", "headers"] as const
type Part = (typeof parts)[number]

/** The parts of a request, as the Effect form of the client takes them. */
export type RequestParts = { readonly [P in Part | "payload"]?: unknown }

export interface ClientEndpoint {
  readonly group: string
  readonly name: string
  /** The members of path, query and headers. */
  readonly members: ReadonlyMap<string, Part>
  readonly request: (input: Members) => Effect.Effect<RequestParts, NarthexError>
  /** The decoded answer as JSON; `undefined` for an empty one. */
  readonly json: (answer: unknown) => Effect.Effect<unknown, Schema.SchemaError>
  readonly codes: ReadonlySet<string>
  readonly showsSecret: boolean
  readonly streams: boolean
  /** The answer is a page of a list. */
  readonly lists: boolean
}

const encodedMembers = (schema: Schema.Top) => {
  const { ast } = Schema.toEncoded(schema)
  return SchemaAST.isObjects(ast) ? ast.propertySignatures : []
}

const codeOf = (problem: Schema.Top): ReadonlyArray<string> =>
  encodedMembers(problem).flatMap(({ name, type }) =>
    name === "code" && SchemaAST.isLiteral(type) && typeof type.literal === "string" ? [type.literal] : []
  )

/** Paths and queries are text. */
const asText = (value: unknown) => (typeof value === "number" || typeof value === "boolean" ? String(value) : value)

/**
 * Whether text can be a segment of a path. Half of a surrogate pair cannot be encoded.
 *
 * Pitfall: an id of dots. URL libraries fold `.` and `..`, so the request would reach another path.
 */
export const isSegment = (text: string) => text.isWellFormed() && !/^\.{0,2}$/.test(text)

const requestOf = (endpoint: HttpApiEndpoint.Top, members: ReadonlyMap<string, Part>): ClientEndpoint["request"] => {
  const bodies = [...endpoint.payload.values()].flatMap(({ schemas }) => schemas)
  const [first, ...others] = bodies
  const options = { errors: "all", onExcessProperty: "error" } as const
  const decodeBody =
    first === undefined ? undefined : Schema.decodeUnknownEffect(pure(Schema.Union([first, ...others])), options)
  const decoders = parts.flatMap((part) => {
    const schema = endpoint[part]
    return schema === undefined ? [] : [[part, Schema.decodeUnknownEffect(pure(schema), options)] as const]
  })

  return (input) =>
    Effect.gen(function* () {
      if (typeof input !== "object" || input === null || Array.isArray(input))
        return yield* Effect.fail(invalidInput("The input of a call is an object."))
      const given: Record<Part, Record<string, unknown>> = { params: {}, query: {}, headers: {} }
      const body: Record<string, unknown> = {}
      for (const [name, value] of Object.entries(input)) {
        const part = members.get(name)
        if (value === undefined) continue
        if (part === undefined) body[name] = value
        else if (part === "params" && typeof value === "string" && !isSegment(value))
          return yield* Effect.fail(invalidInput(`${name}: Expected an id.`))
        else given[part][name] = asText(value)
      }
      const [unknown] = Object.keys(body)
      if (decodeBody === undefined && unknown !== undefined)
        return yield* Effect.fail(invalidInput(`${unknown}: Expected no member of this name.`))
      const request: Record<string, unknown> = {}
      for (const [part, decode] of decoders) request[part] = yield* decode(given[part])
      if (decodeBody !== undefined) request["payload"] = yield* decodeBody(body)
      return request
    }).pipe(Effect.catchTag("SchemaError", (error) => Effect.fail(invalidInput(error))))
}

const jsonOf = (endpoint: HttpApiEndpoint.Top): ClientEndpoint["json"] => {
  const [first, ...others] = endpoint.success
  if (first === undefined) return () => Effect.undefined
  const encode = Schema.encodeUnknownEffect(pure(Schema.Union([first, ...others])))
  return (answer) => (answer === undefined ? Effect.undefined : encode(answer))
}

let made: ReadonlyArray<ClientEndpoint> | undefined

/** Every endpoint of the contract. */
export const clientEndpoints = (): ReadonlyArray<ClientEndpoint> => {
  if (made !== undefined) return made
  const found: Array<ClientEndpoint> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, errors, group }) => {
      const members = new Map(
        parts.flatMap((part) => {
          const schema = endpoint[part]
          return schema === undefined ? [] : encodedMembers(schema).map(({ name }) => [String(name), part] as const)
        })
      )
      const codes = [...errors.values()].flatMap((schemas) => schemas.flatMap(codeOf))
      const streams = Context.get(endpoint.annotations, StreamsEvents)
      found.push({
        group: group.identifier,
        name: endpoint.identifier,
        members,
        request: requestOf(endpoint, members),
        json: streams ? Effect.succeed : jsonOf(endpoint),
        codes: new Set([...codes, ...Object.keys(clientFailures)]),
        showsSecret: Context.get(endpoint.annotations, ShowsSecret),
        streams,
        lists: members.has("cursor")
      })
    }
  })
  made = found
  return found
}
