/**
 * How a key's secret is stored: HMAC-SHA-256 under a pepper that the database does not hold.
 *
 * A plain fast hash is right for 256 random bits (OWASP ASVS 6.5.2). Two peppers are in use while one is rotated: new
 * secrets get the first, and a presented secret is looked up under all of them.
 */
import { Context, Effect, Layer, Redacted } from "effect"
import { Base64Url } from "effect/encoding"
import { hmacSha256With } from "../Digest.ts"

export interface Pepper {
  readonly id: string
  readonly key: Redacted.Redacted<Uint8Array<ArrayBuffer>>
}

export interface SecretDigest {
  readonly pepper_id: string
  readonly digest: string
}

export class KeyDigester extends Context.Service<
  KeyDigester,
  {
    /** The digest under each pepper, the current one first. */
    readonly digests: (
      secret: Redacted.Redacted
    ) => Effect.Effect<readonly [SecretDigest, ...ReadonlyArray<SecretDigest>]>
  }
>()("@narthex/core/keys/KeyDigester") {
  /** By the Web Crypto of the platform. */
  static readonly layer = (present: Pepper, ...former: ReadonlyArray<Pepper>): Layer.Layer<KeyDigester> =>
    KeyDigester.layerBy(hmacSha256With, present, ...former)

  /** By another implementation of HMAC-SHA-256, for example one of Node that needs no other thread. */
  static readonly layerBy = (
    hmac: typeof hmacSha256With,
    present: Pepper,
    ...former: ReadonlyArray<Pepper>
  ): Layer.Layer<KeyDigester> =>
    Layer.effect(
      KeyDigester,
      Effect.gen(function* () {
        const under = Effect.fnUntraced(function* (pepper: Pepper) {
          const sign = yield* hmac(Redacted.value(pepper.key))
          return (data: Uint8Array<ArrayBuffer>) =>
            Effect.map(sign(data), (bytes) => ({ pepper_id: pepper.id, digest: Base64Url.encode(bytes) }))
        })
        const now = yield* under(present)
        const before = yield* Effect.forEach(former, under)
        return KeyDigester.of({
          digests: Effect.fnUntraced(function* (secret) {
            const data = new TextEncoder().encode(Redacted.value(secret))
            return [yield* now(data), ...(yield* Effect.forEach(before, (digest) => digest(data)))] as const
          })
        })
      })
    )
}
