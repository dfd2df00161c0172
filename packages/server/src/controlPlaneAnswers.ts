/**
 * Asked by `narthex-proxy` before it listens: does the control plane answer, and does it know this proxy's token?
 *
 * A token that is refused ends the start at once. A control plane that does not answer, because it starts at the same
 * time or is being replaced, is asked again for half a minute; after that the supervisor of the process decides.
 *
 * Pitfall: listening first. A balancer sends clients to whatever accepts connections, and each would be refused.
 */
import { Effect, type Redacted, Schedule, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"

/** The control plane refuses this proxy, or did not answer. `reason` is a sentence for the operator. */
export class ControlPlaneSilent extends Schema.TaggedError<ControlPlaneSilent>()("ControlPlaneSilent", {
  reason: Schema.String,
  /** Asking again may help. */
  retryable: Schema.Boolean
}) {
  override get message() {
    return this.reason
  }
}

const tries = 30
const pause = "1 second"

const ask = Effect.fnUntraced(function* (url: string, token: Redacted.Redacted) {
  const silent = (reason: string) =>
    new ControlPlaneSilent({ reason: `The control plane at ${url} does not answer: ${reason}.`, retryable: true })
  const client = yield* HttpClient.HttpClient
  const { status } = yield* HttpClientRequest.post(`${url}/v1/proxy/allowlists`).pipe(
    HttpClientRequest.bearerToken(token),
    HttpClientRequest.bodyJsonUnsafe({ project_ids: [] }),
    client.execute,
    Effect.mapError(() => silent("it cannot be reached")),
    Effect.timeoutOrElse({ duration: "5 seconds", orElse: () => Effect.fail(silent("no answer in 5 seconds")) })
  )
  if (status === 401)
    return yield* new ControlPlaneSilent({
      reason: `The control plane at ${url} refuses NARTHEX_PROXY_TOKEN. It must be given there too, and be the same.`,
      retryable: false
    })
  if (status !== 200) return yield* silent(`status ${status}`)
})

/** Done once the control plane has answered. */
export const controlPlaneAnswers = (
  url: string,
  token: Redacted.Redacted
): Effect.Effect<void, ControlPlaneSilent, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    let said = false
    const once = Effect.tapError(ask(url, token), (error) => {
      if (said || !error.retryable) return Effect.void
      said = true
      return Effect.logWarning(`${error.reason} Asking again every second, ${tries} times.`)
    })
    yield* Effect.retry(once, { while: (error) => error.retryable, times: tries, schedule: Schedule.spaced(pause) })
  })
