/**
 * Port: the first answers of calls that carried an `Idempotency-Key` (docs/design/api.md, Resources, lists, retries,
 * limits).
 *
 * A call begins, runs, and completes with its answer or abandons without one. A running call holds a lease, so that an
 * instance that died does not block the key until the record expires. After the lease the same call may begin again,
 * and a late answer of the former attempt is refused.
 *
 * `complete` belongs into the transaction of the effect, as its last statement, and a refused `complete` rolls that
 * transaction back. So of all attempts at most one commits, however short the lease is, whatever a clock shows, and
 * wherever a process dies.
 *
 * Pitfall: calling `complete` after the commit of the effect. A process that dies in between leaves an effect that no
 * record knows, and the repeated call has a second one.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import type { StorageError } from "../../StorageError.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"

export interface IdempotentCall {
  /** The owner of the keys: the credential's owner and organization. */
  readonly owner: string
  readonly key: string
  /** Method, path and a hash of the body. An answer is replayed only for an equal fingerprint. */
  readonly fingerprint: string
}

/** An answer as it is replayed. Secrets are not part of it: the caller nulls them first. */
export interface StoredAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type Begun =
  /** Run the call; pass `attempt` to `complete` or `abandon`. */
  | { readonly _tag: "fresh"; readonly attempt: number }
  /** The same call is running, or its process died. After `lease_until` the call may begin again. */
  | { readonly _tag: "in_progress"; readonly lease_until: DateTime.Utc }
  /** The key belongs to another call. */
  | { readonly _tag: "conflict" }
  | { readonly _tag: "replay"; readonly answer: StoredAnswer }

interface Stored extends IdempotentCall {
  readonly attempt: number
  readonly lease_until: DateTime.Utc
  readonly expires_at: DateTime.Utc
  readonly answer: StoredAnswer | null
}

export interface CallTimes {
  readonly now: DateTime.Utc
  /** When the lease ends; then another call may begin in its place. */
  readonly lease_until: DateTime.Utc
  /** When the record expires. */
  readonly expires_at: DateTime.Utc
}

export class IdempotencyStore extends Context.Service<
  IdempotencyStore,
  {
    /** Exactly one of several equal concurrent calls is `fresh`. A record that has expired at `now` does not count. */
    readonly begin: (call: IdempotentCall, times: CallTimes) => Effect.Effect<Begun, StorageError>
    /** Stores the answer. `false`, with nothing stored, when the attempt is no longer the current one. */
    readonly complete: (
      call: IdempotentCall,
      attempt: number,
      answer: StoredAnswer
    ) => Effect.Effect<boolean, StorageError>
    /**
     * Frees the key, for an answer that must not be replayed. Does nothing when the attempt is no longer the current
     * one.
     */
    readonly abandon: (call: IdempotentCall, attempt: number) => Effect.Effect<void, StorageError>
    /** Purges expired records. */
    readonly purge: (now: DateTime.Utc) => Effect.Effect<void, StorageError>
  }
>()("@narthex/core/records/idempotency/IdempotencyStore") {
  static readonly layerMemory: Layer.Layer<IdempotencyStore, never, MemoryStorage> = Layer.effect(
    IdempotencyStore,
    Effect.gen(function* () {
      const { table } = yield* MemoryStorage
      const records = table<Stored>("idempotency_record")
      let attempts = 0
      const idOf = ({ key, owner }: IdempotentCall) => JSON.stringify([owner, key])
      const recordOf = (rows: ReadonlyArray<Stored>, call: IdempotentCall) =>
        rows.find((row) => row.owner === call.owner && row.key === call.key)
      const running = (rows: ReadonlyArray<Stored>, call: IdempotentCall, attempt: number) => {
        const row = recordOf(rows, call)
        return row?.attempt === attempt && row.answer === null ? row : undefined
      }

      return IdempotencyStore.of({
        begin: (call, { expires_at, lease_until, now }) =>
          records.modify((rows): readonly [Begun, ReadonlyArray<readonly [string, Stored]>] => {
            const row = recordOf(rows, call)
            if (row !== undefined && DateTime.isLessThan(now, row.expires_at)) {
              if (row.fingerprint !== call.fingerprint) return [{ _tag: "conflict" }, []]
              if (row.answer !== null) return [{ _tag: "replay", answer: row.answer }, []]
              if (DateTime.isLessThan(now, row.lease_until))
                return [{ _tag: "in_progress", lease_until: row.lease_until }, []]
            }
            const attempt = ++attempts
            return [
              { _tag: "fresh", attempt },
              [[idOf(call), { ...call, attempt, lease_until, expires_at, answer: null }]]
            ]
          }),
        complete: (call, attempt, answer) =>
          records.modify((rows) => {
            const row = running(rows, call, attempt)
            return [row !== undefined, row === undefined ? [] : [[idOf(call), { ...row, answer }]]]
          }),
        abandon: (call, attempt) =>
          records.modify((rows) => [
            undefined,
            running(rows, call, attempt) === undefined ? [] : [[idOf(call), undefined]]
          ]),
        purge: (now) =>
          records.modify((rows) => [
            undefined,
            rows.filter((row) => DateTime.isLessThanOrEqualTo(row.expires_at, now)).map((row) => [idOf(row), undefined])
          ])
      })
    })
  )
}
