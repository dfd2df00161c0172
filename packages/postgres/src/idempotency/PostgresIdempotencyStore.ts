/** `IdempotencyStore` on Postgres. */
import {
  type Begun,
  type CallTimes,
  IdempotencyStore,
  type IdempotentCall,
  type StorageError,
  type StoredAnswer
} from "@narthex/core"
import { DateTime, Effect, Layer } from "effect"
import { Database } from "../database/Database.ts"
import { json } from "../database/tableOf.ts"

interface Found {
  readonly fingerprint: string
  readonly answer: StoredAnswer | null
  readonly lease_until: Date
}

const make = Effect.gen(function* () {
  const { query, transaction } = yield* Database

  const begin = ({ fingerprint, key, owner }: IdempotentCall, { expires_at, lease_until, now }: CallTimes) =>
    transaction(
      Effect.gen(function* (): Effect.fn.Return<Begun, StorageError> {
        const [fresh] = yield* query<{ readonly attempt: number }>(
          "IdempotencyStore.begin",
          `insert into narthex.idempotency_record as record (owner, key, fingerprint, attempt, lease_until, expires_at)
           values ($1, $2, $3, nextval('narthex.idempotency_attempt'), $4, $5)
           on conflict (owner, key) do update
           set fingerprint = excluded.fingerprint, attempt = excluded.attempt, lease_until = excluded.lease_until,
             expires_at = excluded.expires_at, answer = null
           where record.expires_at <= $6
             or (record.fingerprint = excluded.fingerprint and record.answer is null and record.lease_until <= $6)
           returning attempt`,
          [
            owner,
            key,
            fingerprint,
            DateTime.toDateUtc(lease_until),
            DateTime.toDateUtc(expires_at),
            DateTime.toDateUtc(now)
          ]
        )
        if (fresh !== undefined) return { _tag: "fresh", attempt: fresh.attempt }
        // `on conflict` locked the row although it changed nothing, so this reads the row that the condition refused.
        const [found] = yield* query<Found>(
          "IdempotencyStore.begin",
          "select fingerprint, answer, lease_until from narthex.idempotency_record where owner = $1 and key = $2",
          [owner, key]
        )
        if (found?.fingerprint !== fingerprint) return { _tag: "conflict" }
        return found.answer === null
          ? { _tag: "in_progress", lease_until: DateTime.fromDateUnsafe(found.lease_until) }
          : { _tag: "replay", answer: found.answer }
      })
    )

  return IdempotencyStore.of({
    begin,
    complete: ({ key, owner }, attempt, answer) =>
      Effect.map(
        query(
          "IdempotencyStore.complete",
          `update narthex.idempotency_record set answer = $4
           where owner = $1 and key = $2 and attempt = $3 and answer is null returning key`,
          [owner, key, attempt, json(answer)]
        ),
        (rows) => rows.length > 0
      ),
    abandon: ({ key, owner }, attempt) =>
      Effect.asVoid(
        query(
          "IdempotencyStore.abandon",
          "delete from narthex.idempotency_record where owner = $1 and key = $2 and attempt = $3 and answer is null",
          [owner, key, attempt]
        )
      ),
    purge: (now) =>
      Effect.asVoid(
        query("IdempotencyStore.purge", "delete from narthex.idempotency_record where expires_at <= $1", [
          DateTime.toDateUtc(now)
        ])
      )
  })
})

export const PostgresIdempotencyStore = {
  layer: Layer.effect(IdempotencyStore, make)
}
