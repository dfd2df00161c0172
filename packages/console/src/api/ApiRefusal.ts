/**
 * Calls of the API, and the two ways in which one fails: the API refused it, or no answer could be read.
 *
 * The typed client fails with one class for each problem code. Pages compare codes, so all of them become one class
 * here.
 */
import { NarthexClient } from "@narthex/api"
import { Effect, type Option, Schema } from "effect"

const Issue = Schema.Struct({
  path: Schema.Array(Schema.Union([Schema.String, Schema.Finite])),
  message: Schema.String
})

/** The API refused the call with a problem. */
export class ApiRefused extends Schema.TaggedError<ApiRefused>()("ApiRefused", {
  status: Schema.Int,
  code: Schema.String,
  /** The sentence for people, which pages show. */
  detail: Schema.String,
  request_id: Schema.optionalKey(Schema.String),
  errors: Schema.optionalKey(Schema.Array(Issue))
}) {
  override get message() {
    return this.detail
  }

  /** The message about one member of the body, if the API named it. */
  about(member: string): string | undefined {
    return this.errors?.find(({ path }) => path.includes(member))?.message
  }
}

/** The API did not answer, or its answer could not be read. */
export class ApiUnreachable extends Schema.TaggedError<ApiUnreachable>()("ApiUnreachable", {
  reason: Schema.Defect()
}) {
  override get message() {
    return "The API cannot be reached at the moment."
  }
}

export type ApiFailure = ApiRefused | ApiUnreachable

const Problem = Schema.Struct({
  status: Schema.Int,
  code: Schema.String,
  title: Schema.String,
  detail: Schema.optional(Schema.String),
  request_id: Schema.optional(Schema.String),
  errors: Schema.optional(Schema.Array(Issue))
})
const asProblem = Schema.decodeUnknownOption(Problem)

/** Reads the members that every problem has, also one with a code that this version does not know. */
const toFailure = (error: unknown): ApiFailure => {
  const read = asProblem(typeof error === "object" && error !== null ? fieldsOf(error) : error)
  if (read._tag === "None") return new ApiUnreachable({ reason: error })
  const { code, detail, errors, request_id, status, title } = read.value
  return new ApiRefused({
    status,
    code,
    detail: detail ?? title,
    ...(request_id === undefined ? {} : { request_id }),
    ...(errors === undefined ? {} : { errors })
  })
}

const fieldsOf = (error: object) => {
  const { code, detail, errors, request_id, status, title } = error as Record<string, unknown> // `Problem` checks each
  return { code, detail, errors, request_id, status, title }
}

/** Calls the API with the credential in `ClientCredential`. */
export const calling = <A, E, R>(
  call: (api: NarthexClient["Service"]["api"]) => Effect.Effect<A, E, R>
): Effect.Effect<A, ApiFailure, R | NarthexClient> =>
  Effect.flatMap(NarthexClient, ({ api }) => Effect.mapError(call(api), toFailure))

/** The id from a path of the console. Text that cannot be an id is refused as the API refuses an unknown id: 404. */
export const idOrNotFound = <Id>(id: Option.Option<Id>): Effect.Effect<Id, ApiRefused> =>
  Effect.fromOption(id).pipe(
    Effect.mapError(() => new ApiRefused({ status: 404, code: "not_found", detail: "Not found." }))
  )

/** Matches a refusal with one of these codes. */
export const refusedWith =
  (...codes: ReadonlyArray<string>) =>
  (failure: unknown): failure is ApiRefused =>
    failure instanceof ApiRefused && codes.includes(failure.code)
