/**
 * Port: the key pairs that sign session JWTs. The private part is stored encrypted under the master secret.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import type { StorageError } from "../../StorageError.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"

export interface SigningKey {
  /** RFC 7638 thumbprint of the public key. */
  readonly kid: string
  /** The public key as a JWK in JSON text. */
  readonly public_jwk: string
  /** The private key, encrypted. Only the adapter knows how to decrypt it. */
  readonly wrapped_private: string
  readonly created_at: DateTime.Utc
  /** Not used for signing before this instant; published from its creation. */
  readonly active_from: DateTime.Utc
  /** No longer published from this instant; `null` while it may sign. */
  readonly retired_until: DateTime.Utc | null
}

export class SigningKeyStore extends Context.Service<
  SigningKeyStore,
  {
    /** Every key that is still published at `now`, newest first. */
    readonly published: (now: DateTime.Utc) => Effect.Effect<ReadonlyArray<SigningKey>, StorageError>
    /**
     * Adds a first key unless one exists, and returns whether it did. Exactly one of several concurrent calls adds its
     * key.
     */
    readonly addFirst: (key: SigningKey) => Effect.Effect<boolean, StorageError>
    /** Adds a key, and stops publishing every other key at `retireAt`. */
    readonly rotate: (key: SigningKey, retireAt: DateTime.Utc) => Effect.Effect<void, StorageError>
  }
>()("@narthex/core/records/sessions/SigningKeyStore") {
  static readonly layerMemory: Layer.Layer<SigningKeyStore, never, MemoryStorage> = Layer.effect(
    SigningKeyStore,
    Effect.gen(function* () {
      const keys = (yield* MemoryStorage).table<SigningKey>("signing_key")
      return SigningKeyStore.of({
        published: (now) =>
          Effect.map(keys.all, (rows) =>
            rows
              .filter((row) => row.retired_until === null || DateTime.isGreaterThan(row.retired_until, now))
              .toSorted((a, b) => b.created_at.epochMilliseconds - a.created_at.epochMilliseconds)
          ),
        addFirst: (key) => keys.modify((rows) => [rows.length === 0, rows.length === 0 ? [[key.kid, key]] : []]),
        rotate: (key, retireAt) =>
          keys.modify((rows) => [
            undefined,
            [
              ...rows
                .filter((row) => row.retired_until === null)
                .map((row) => [row.kid, { ...row, retired_until: retireAt }] as const),
              [key.kid, key]
            ]
          ])
      })
    })
  )
}
