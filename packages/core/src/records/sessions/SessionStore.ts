/** Port: sessions, and the id tokens that can no longer begin one. */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { SessionId, UserId } from "../../Ids.ts"
import type { StorageError } from "../../StorageError.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import type { Session } from "./Session.ts"

interface SpentToken {
  readonly digest: string
  readonly expires_at: DateTime.Utc
}

export class SessionStore extends Context.Service<
  SessionStore,
  {
    readonly insert: (session: Session) => Effect.Effect<void, StorageError>
    /** Reads the row and makes other transactions that lock it wait: refresh and revoke are serialized. */
    readonly lock: (session: SessionId) => Effect.Effect<Option.Option<Session>, StorageError>
    /** The session with this `id_token_digest` that is not revoked, the newest of several. It locks nothing. */
    readonly begunBy: (digest: string) => Effect.Effect<Option.Option<Session>, StorageError>
    readonly update: (session: Session) => Effect.Effect<void, StorageError>
    /** Not revoked and signed in after `since`, the newest `limit`, newest first. */
    readonly active: (
      user: UserId,
      since: DateTime.Utc,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Session>, StorageError>
    /** Marks the id token as spent, at least until it expires. `false` when it was spent before. */
    readonly spend: (digest: string, expiresAt: DateTime.Utc) => Effect.Effect<boolean, StorageError>
    readonly isSpent: (digest: string) => Effect.Effect<boolean, StorageError>
    /** Purges spent tokens that expired before `now`, and sessions signed in before `since`. */
    readonly purge: (now: DateTime.Utc, since: DateTime.Utc) => Effect.Effect<void, StorageError>
  }
>()("@narthex/core/records/sessions/SessionStore") {
  static readonly layerMemory: Layer.Layer<SessionStore, never, MemoryStorage> = Layer.effect(
    SessionStore,
    Effect.gen(function* () {
      const { table } = yield* MemoryStorage
      const sessions = table<Session>("session")
      const spent = table<SpentToken>("spent_id_token")
      return SessionStore.of({
        insert: (session) => sessions.put(session.id, session),
        lock: sessions.get,
        begunBy: (digest) =>
          Effect.map(sessions.all, (rows) =>
            Option.fromUndefinedOr(
              rows
                .filter((row) => row.id_token_digest === digest && row.revoked_at === null)
                .toSorted((a, b) => (a.id < b.id ? 1 : -1))[0]
            )
          ),
        update: (session) => sessions.put(session.id, session),
        active: (user, since, limit) =>
          Effect.map(sessions.all, (rows) =>
            rows
              .filter(
                (row) =>
                  row.user_id === user && row.revoked_at === null && DateTime.isGreaterThan(row.signed_in_at, since)
              )
              .toSorted((a, b) => (a.id < b.id ? 1 : -1))
              .slice(0, limit)
          ),
        spend: (digest, expires_at) =>
          spent.modify((rows) => {
            const former = rows.find((row) => row.digest === digest)
            const until = former === undefined ? expires_at : DateTime.max(former.expires_at, expires_at)
            return [former === undefined, [[digest, { digest, expires_at: until }]]]
          }),
        isSpent: (digest) => Effect.map(spent.get(digest), Option.isSome),
        purge: (now, since) =>
          Effect.andThen(
            spent.modify((rows) => [
              undefined,
              rows.filter((row) => DateTime.isLessThan(row.expires_at, now)).map((row) => [row.digest, undefined])
            ]),
            sessions.modify((rows) => [
              undefined,
              rows.filter((row) => DateTime.isLessThan(row.signed_in_at, since)).map((row) => [row.id, undefined])
            ])
          )
      })
    })
  )
}
