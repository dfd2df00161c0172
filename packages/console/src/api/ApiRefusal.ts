/**
 * How a call of the API fails, as the console cares about it: the API said no, or there was no answer of the API.
 *
 * The typed client fails with one class for each code; pages ask for the code, so here they become one shape.
 */
import { Effect, type Option, Schema } from "effect"
import { NarthexClient } from "@narthex/api"

const Issue = Schema.Struct({
  path: Schema.Array(Schema.Union([Schema.String, Schema.Finite])),
  message: Schema.String
})

/** The API said no. */
export class ApiRefused extends Schema.TaggedError<ApiRefused>()("ApiRefused", {
  status: Schema.Int,
  code: Schema.String,
  /** Fit to show to a person. */
  detail: Schema.String,
  request_id: Schema.optionalKey(Schema.String),
  errors: Schema.optionalKey(Schema.Array(Issue))
}) {
  override get message() {
    return this.detail
  }

  /** What is wrong with one member of the body. */
  about(member: string): string | undefined {
    return this.errors?.find(({ path }) => path.includes(member))?.message
  }
}

/** There was no answer that we understand. */
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

/** Reads what a problem of the contract, or one newer than it, has in common. */
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
  const { code, detail, errors, request_id, status, title } = error as Record<string, unknown> // each is checked next
  return { code, detail, errors, request_id, status, title }
}

/** Calls the API as whoever `ClientCredential` says. */
export const calling = <A, E, R>(
  call: (api: NarthexClient["Service"]["api"]) => Effect.Effect<A, E, R>
): Effect.Effect<A, ApiFailure, R | NarthexClient> =>
  Effect.flatMap(NarthexClient, ({ api }) => Effect.mapError(call(api), toFailure))

/** The id that a path holds, for a path of the API; what cannot be an id is refused as the API refuses an unknown one. */
export const idOrNotFound = <Id>(id: Option.Option<Id>): Effect.Effect<Id, ApiRefused> =>
  Effect.fromOption(id).pipe(
    Effect.mapError(() => new ApiRefused({ status: 404, code: "not_found", detail: "Not found." }))
  )

/** Was it refused with one of these codes? */
export const refusedWith =
  (...codes: ReadonlyArray<string>) =>
  (failure: unknown): failure is ApiRefused =>
    failure instanceof ApiRefused && codes.includes(failure.code)
