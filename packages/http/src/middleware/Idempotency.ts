/**
 * `Idempotency-Key`: the same call with the same key gets the first answer again and never has a second effect
 * (docs/design/api.md, Resources, lists, retries, limits).
 *
 * The handler runs in one transaction, and its answer is stored as the last statement of that transaction. So a process
 * that dies anywhere leaves either nothing or an effect with its answer: the key may be used again after the lease, or
 * replays. Refusals and failures have no effect, so their answers are stored afterwards. Work that a handler leaves to
 * `Transaction.afterCommit` is not part of the stored answer.
 *
 * Answers are stored without their secrets: a replay of a creation shows `null` instead of the secret.
 *
 * Pitfall: a handler that waits for another process without `afterCommit`. The other process does not see the
 * transaction.
 */
import {
  IdempotencyConflictProblem,
  IdempotencyInProgressProblem,
  InvalidRequestProblem,
  problemOfSchemaError,
  ShowsSecret
} from "@narthex/api"
import {
  type AnyCaller,
  type IdempotencyStore,
  type IdempotentCall,
  NotApplied,
  StorageError,
  type StoredAnswer,
  sha256,
  type Transaction
} from "@narthex/core"
import { Context, DateTime, Duration, Effect, Option, Schema } from "effect"
import { type HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { type HttpApiEndpoint, HttpApiError } from "effect/http-api"
import { problems } from "../toProblem.ts"

const remembered = Duration.hours(24)
/** How long a key stays blocked after the process of its call died. A call that takes longer may be rolled back. */
const lease = Duration.seconds(30)
const form = /^[\x21-\x7e]{1,255}$/
const notStored = new Set([401, 403, 423, 429])
const secrets = ["secret", "password", "connection_uri"]

interface Call {
  readonly caller: AnyCaller
  readonly endpoint: HttpApiEndpoint.Top
  readonly request: HttpServerRequest.HttpServerRequest
}

/** The store of the answers, and the transaction that commits a handler together with its answer. */
export interface Replays {
  readonly store: IdempotencyStore["Service"]
  readonly transaction: Transaction["Service"]
}

const isOfTransaction = Schema.is(Schema.Union([NotApplied, StorageError]))

const isStored = ({ status }: HttpServerResponse.HttpServerResponse) => status < 500 && !notStored.has(status)

/** The answer to a refusal, because refusals are stored too. Other failures stay what they are. */
const answerTo = <E>(error: E): Effect.Effect<HttpServerResponse.HttpServerResponse, E> => {
  const problem = HttpApiError.HttpApiSchemaError.is(error) ? problemOfSchemaError(error) : error
  return HttpServerRespondable.isRespondable(problem)
    ? Effect.orDie(HttpServerRespondable.toResponse(problem))
    : Effect.fail(error)
}

const malformedKey = HttpServerRespondable.toResponse(
  new InvalidRequestProblem({ detail: "Idempotency-Key: expected 1 to 255 visible ASCII characters." })
)

const inProgress = (until: DateTime.Utc) =>
  new IdempotencyInProgressProblem({
    detail: `The first request with this Idempotency-Key is still running. Send the same request again; by ${DateTime.formatIso(until)} it has been answered, or it runs again.`,
    retry_after_ms: 1000
  })

/**
 * Runs the call, or replays its stored answer. Without the header it always runs. `prepare` looks up what the call needs
 * and changes nothing that has to be undone; the effect that it returns runs in the transaction.
 */
export const replayed = <E, R, E2, R2>(
  { store, transaction }: Replays,
  { caller, endpoint, request }: Call,
  prepare: Effect.Effect<Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>, E2, R2>
) =>
  Effect.gen(function* () {
    const key = request.headers["idempotency-key"]
    if (key === undefined) return yield* Effect.flatten(prepare)
    if (!form.test(key)) return yield* Effect.orDie(malformedKey)

    const body = yield* Effect.option(request.text)
    // A body that cannot be read, for example because it is too large, is answered where it is decoded.
    if (Option.isNone(body)) return yield* Effect.flatten(prepare)
    const fingerprint = yield* sha256(`${request.method} ${request.url}\n${body.value}`)
    const owner = caller.kind === "session" ? `user ${caller.user.id}` : `key ${caller.api_key_id}`
    const call: IdempotentCall = { owner: `${caller.org_id} ${owner}`, key, fingerprint }
    const now = yield* DateTime.now
    const lease_until = DateTime.addDuration(now, lease)
    const expires_at = DateTime.addDuration(now, remembered)
    const begun = yield* problems(store.begin(call, { now, lease_until, expires_at }))
    if (begun._tag === "conflict") return yield* new IdempotencyConflictProblem({})
    if (begun._tag === "in_progress") return yield* inProgress(begun.lease_until)
    if (begun._tag === "replay") return asResponse(begun.answer)

    /** `false`: another attempt has begun. */
    const complete = (response: HttpServerResponse.HttpServerResponse) =>
      store.complete(call, begun.attempt, toStored(response, Context.get(endpoint.annotations, ShowsSecret)))
    // A committed answer is kept.
    const abandon = Effect.ignore(store.abandon(call, begun.attempt))

    const { response, committed } = yield* Effect.flatMap(prepare, (handler) =>
      transaction.run(
        Effect.gen(function* () {
          const response = yield* handler
          const committed = isStored(response)
          if (committed && !(yield* complete(response))) return yield* inProgress(lease_until)
          return { response, committed }
        })
      )
    ).pipe(
      // The transaction itself failed, or the work after it. The handler's own failures are problems already.
      Effect.catchIf(isOfTransaction, (error) => problems(Effect.fail(error))),
      Effect.catch((error) => Effect.map(answerTo(error), (response) => ({ response, committed: false }))),
      Effect.onError(() => abandon)
    )
    if (committed) return response
    if (isStored(response)) yield* problems(complete(response))
    else yield* abandon
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
