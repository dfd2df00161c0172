/**
 * `Idempotency-Key`: the same call with the same key gets the first answer again and never has a second effect
 * (docs/design/api.md, Resources, lists, retries, limits).
 *
 * Answers are stored without their secrets: a replay of a creation shows `null` instead of the secret.
 */
import {
  IdempotencyConflictProblem,
  IdempotencyInProgressProblem,
  InvalidRequestProblem,
  problemOfSchemaError,
  ShowsSecret
} from "@narthex/api"
import { type AnyCaller, type IdempotencyStore, type StoredAnswer, sha256 } from "@narthex/core"
import { Context, DateTime, Duration, Effect, Option } from "effect"
import { type HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { type HttpApiEndpoint, HttpApiError } from "effect/http-api"
import { problems } from "../toProblem.ts"

const remembered = Duration.hours(24)
/** Longer than the longest call, so that a call never starts a second time while the first is running. */
const lease = Duration.minutes(2)
const form = /^[\x21-\x7e]{1,255}$/
const notStored = new Set([401, 403, 423, 429])
const secrets = ["secret", "password", "connection_uri"]

interface Call {
  readonly caller: AnyCaller
  readonly endpoint: HttpApiEndpoint.Top
  readonly request: HttpServerRequest.HttpServerRequest
}

/** Turns refusals into answers, because they are stored too. */
const answered = <E, R>(run: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.catch(run, (error): Effect.Effect<HttpServerResponse.HttpServerResponse, E> => {
    const problem = HttpApiError.HttpApiSchemaError.is(error) ? problemOfSchemaError(error) : error
    return HttpServerRespondable.isRespondable(problem)
      ? Effect.orDie(HttpServerRespondable.toResponse(problem))
      : Effect.fail(error)
  })

const malformedKey = HttpServerRespondable.toResponse(
  new InvalidRequestProblem({ detail: "Idempotency-Key: expected 1 to 255 visible ASCII characters." })
)

/** Runs the call, or replays its stored answer. Without the header it always runs. */
export const replayed = <E, R>(
  store: IdempotencyStore["Service"],
  { caller, endpoint, request }: Call,
  run: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) =>
  Effect.gen(function* () {
    const key = request.headers["idempotency-key"]
    if (key === undefined) return yield* run
    if (!form.test(key)) return yield* Effect.orDie(malformedKey)

    const body = yield* Effect.option(request.text)
    // A body that cannot be read, for example because it is too large, is answered where it is decoded.
    if (Option.isNone(body)) return yield* run
    const fingerprint = yield* sha256(`${request.method} ${request.url}\n${body.value}`)
    const owner = caller.kind === "session" ? `user ${caller.user.id}` : `key ${caller.api_key_id}`
    const call = { owner: `${caller.org_id} ${owner}`, key, fingerprint }
    const now = yield* DateTime.now
    const begun = yield* problems(
      store.begin(call, {
        now,
        lease_until: DateTime.addDuration(now, lease),
        expires_at: DateTime.addDuration(now, remembered)
      })
    )
    if (begun._tag === "conflict") return yield* new IdempotencyConflictProblem({})
    if (begun._tag === "in_progress") return yield* new IdempotencyInProgressProblem({ retry_after_ms: 1000 })
    if (begun._tag === "replay") return asResponse(begun.answer)

    const abandon = Effect.ignore(store.abandon(call, begun.attempt))
    const response = yield* Effect.onError(answered(run), () => abandon)
    if (response.status >= 500 || notStored.has(response.status)) {
      yield* abandon
      return response
    }
    yield* problems(
      store.complete(call, begun.attempt, toStored(response, Context.get(endpoint.annotations, ShowsSecret)))
    )
    return response
  })

const asResponse = ({ body, headers, status }: StoredAnswer) =>
  HttpServerResponse.setHeader(
    body === "" ? HttpServerResponse.empty({ status, headers }) : HttpServerResponse.text(body, { status, headers }),
    "idempotent-replayed",
    "true"
  )

const toStored = (response: HttpServerResponse.HttpServerResponse, showsSecret: boolean): StoredAnswer => {
  const text = response.body._tag === "Uint8Array" ? new TextDecoder().decode(response.body.body) : ""
  const location = response.headers["location"]
  return {
    status: response.status,
    headers: {
      ...(text === "" ? {} : { "content-type": contentTypeOf(response) }),
      ...(location === undefined ? {} : { location })
    },
    body: showsSecret && text !== "" ? withoutSecrets(text) : text
  }
}

const contentTypeOf = (response: HttpServerResponse.HttpServerResponse): string =>
  response.headers["content-type"] ??
  (response.body._tag === "Uint8Array" ? response.body.contentType : undefined) ??
  "application/json"

const withoutSecrets = (text: string): string => {
  const body: unknown = JSON.parse(text)
  if (typeof body !== "object" || body === null) return text
  const hidden = Object.entries(body).map(([name, value]) => [name, secrets.includes(name) ? null : value])
  return JSON.stringify(Object.fromEntries(hidden))
}
