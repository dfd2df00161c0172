/**
 * The checks that `narthex-proxy` makes: before it listens, and every ten seconds while it does, that the control plane
 * answers and accepts the proxy's token.
 *
 * A refused token ends the start at once. A control plane that does not answer, because it is starting or being
 * replaced, is tried again for half a minute; then the process exits, and its supervisor decides.
 *
 * Pitfall: listening first. A load balancer sends clients to every process that accepts connections, and each client
 * would be refused.
 */
import { Clock, Effect, type Redacted, Result, Schedule, Schema, type Scope } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import type { Unready } from "./admin.ts"

/** The control plane refused this proxy or did not answer. `reason` is a sentence for the operator. */
export class ControlPlaneSilent extends Schema.TaggedError<ControlPlaneSilent>()("ControlPlaneSilent", {
  reason: Schema.String,
  /** Whether another attempt may succeed. */
  retryable: Schema.Boolean
}) {
  override get message() {
    return this.reason
  }
}

/** How long a control plane that does not answer is waited for, in milliseconds: at the start, and while the proxy is ready. */
const patience = 30_000

const silent = (url: string, reason: string) =>
  new ControlPlaneSilent({ reason: `The control plane at ${url} does not answer: ${reason}.`, retryable: true })

const ask = Effect.fnUntraced(function* (url: string, token: Redacted.Redacted) {
  const client = yield* HttpClient.HttpClient
  const { status } = yield* HttpClientRequest.post(`${url}/v1/proxy/allowlists`).pipe(
    HttpClientRequest.bearerToken(token),
    HttpClientRequest.bodyJsonUnsafe({ project_ids: [] }),
    client.execute,
    Effect.mapError(() => silent(url, "it cannot be reached")),
    Effect.timeoutOrElse({ duration: "5 seconds", orElse: () => Effect.fail(silent(url, "no answer in 5 seconds")) })
  )
  if (status === 401)
    return yield* new ControlPlaneSilent({
      reason: `The control plane at ${url} refuses NARTHEX_PROXY_TOKEN. Set the same token there.`,
      retryable: false
    })
  if (status !== 200) return yield* silent(url, `status ${status}`)
})

/** Completes when the control plane has accepted the token. */
export const controlPlaneAnswers = (
  url: string,
  token: Redacted.Redacted
): Effect.Effect<void, ControlPlaneSilent, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    let failure = silent(url, "no answer in half a minute")
    let logged = false
    const once = Effect.tapError(ask(url, token), (error) => {
      failure = error
      if (logged || !error.retryable) return Effect.void
      logged = true
      return Effect.logWarning(`${error.reason} Retrying every second, for half a minute.`)
    })
    yield* Effect.retry(once, { while: (error) => error.retryable, schedule: Schedule.spaced("1 second") }).pipe(
      Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.fail(failure) })
    )
  })

/**
 * Asks every ten seconds as long as its scope lives, starting now. The proxy is not ready while its token is refused, or
 * once there has been no answer for half a minute.
 *
 * Pitfall: taking the proxy out of service at the first silence. The control plane is replaced by every release, and
 * clients of computes that run need no answer of it.
 */
export const watchControlPlane = (
  url: string,
  token: Redacted.Redacted
): Effect.Effect<Unready, never, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const monotonic = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
    let answered = monotonic()
    let failure: ControlPlaneSilent | undefined
    const once = Effect.gen(function* () {
      const outcome = yield* Effect.result(ask(url, token))
      const before = failure
      failure = Result.isFailure(outcome) ? outcome.failure : undefined
      if (failure === undefined) answered = monotonic()
      if (failure !== undefined && failure.reason !== before?.reason) yield* Effect.logWarning(failure.reason)
      if (failure === undefined && before !== undefined) yield* Effect.logInfo("The control plane answers again.")
    })
    yield* Effect.forkScoped(Effect.repeat(once, Schedule.spaced("10 seconds")))
    return Effect.sync(() =>
      failure !== undefined && (!failure.retryable || monotonic() - answered > patience) ? failure.reason : undefined
    )
  })
