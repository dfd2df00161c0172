/**
 * Purges expired rows: sessions past their window, spent id tokens, login codes, idempotency records, counters of rate
 * limits, refused clients, attempts of webhooks, ended records, and entries of the audit log. `EventFeed` purges events.
 *
 * Instances may purge concurrently: each step deletes by an instant.
 */
import { Context, DateTime, Duration, Effect, Layer, Schedule } from "effect"
import { becauseOf } from "./becauseOf.ts"
import { refusalLimits } from "./records/allowlist/ClientRefusal.ts"
import { ClientRefusalStore } from "./records/allowlist/ClientRefusalStore.ts"
import { AuditLog } from "./records/audit/AuditLog.ts"
import { CliGrantStore } from "./records/cli-login/CliGrantStore.ts"
import { IdempotencyStore } from "./records/idempotency/IdempotencyStore.ts"
import { RateLimiter } from "./records/limits/RateLimiter.ts"
import { EndedRecordStore } from "./records/purge/EndedRecordStore.ts"
import { SessionPolicy } from "./records/sessions/Session.ts"
import { SessionStore } from "./records/sessions/SessionStore.ts"
import { WebhookStore } from "./records/webhooks/WebhookStore.ts"

export interface RetentionSettings {
  /** How long final operations are kept. */
  readonly operations: Duration.Duration
  /** How long deleted projects, branches and endpoints, ended roles, API keys and invitations, and entries of the audit log are kept. */
  readonly records: Duration.Duration
}

export const defaultRetention: RetentionSettings = { operations: Duration.days(30), records: Duration.days(90) }

export const RetentionPolicy = Context.Reference<RetentionSettings>("@narthex/core/RetentionPolicy", {
  defaultValue: () => defaultRetention
})

/** How many records of a kind one statement purges at most, so that none takes long. */
const batch = 500
/** How many statements of each kind one run makes at most. The next run continues. */
const rounds = 20

/** How long the state of a login stays reserved after its code expired. */
const grantsKept = Duration.days(1)
/** How long the row of a session is kept after its window, for investigations. */
const sessionsKept = Duration.days(7)

/** How long attempts of webhooks are kept. */
const attemptsKept = Duration.days(7)

export const purgeExpired = Effect.gen(function* () {
  const now = yield* DateTime.now
  const { window } = yield* SessionPolicy
  const before = (age: Duration.Duration) => DateTime.subtractDuration(now, age)
  yield* (yield* SessionStore).purge(now, before(Duration.sum(window, sessionsKept)))
  yield* (yield* CliGrantStore).purge(before(grantsKept))
  yield* (yield* IdempotencyStore).purge(now)
  yield* (yield* RateLimiter).purge(now)
  yield* (yield* ClientRefusalStore).purge(before(refusalLimits.retention))
  const { operations, records } = yield* RetentionPolicy
  const ended = yield* EndedRecordStore
  const log = yield* AuditLog
  for (let round = 0; round < rounds; round++) if ((yield* log.purge(before(records), batch)) === 0) break
  const webhooks = yield* WebhookStore
  for (let round = 0; round < rounds; round++) if ((yield* webhooks.purge(before(attemptsKept), batch)) === 0) break
  for (let round = 0; round < rounds; round++)
    if ((yield* ended.purge({ operations: before(operations), records: before(records) }, batch)) === 0) break
})

/** Every ten minutes, as long as its scope lives. After a failure the next run tries again. */
export const layerPurging: Layer.Layer<
  never,
  never,
  | AuditLog
  | ClientRefusalStore
  | CliGrantStore
  | EndedRecordStore
  | IdempotencyStore
  | RateLimiter
  | SessionStore
  | WebhookStore
> = Layer.effectDiscard(
  purgeExpired.pipe(
    Effect.catchCause((cause) => Effect.logWarning("Expired records could not be purged.").pipe(becauseOf(cause))),
    Effect.repeat(Schedule.spaced("10 minutes")),
    Effect.forkScoped
  )
)
