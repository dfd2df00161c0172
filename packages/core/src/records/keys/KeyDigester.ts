/**
 * How a key's secret is stored: HMAC-SHA-256 under a pepper that the database does not hold.
 *
 * A plain fast hash is right for 256 random bits (OWASP ASVS 6.5.2). Two peppers are in use while one is rotated: new
 * secrets get the first, and a presented secret is looked up under all of them.
 */
import { Context, Effect, Layer, Redacted } from "effect"
import { Base64Url } from "effect/encoding"
import { hmacSha256With } from "../../Digest.ts"

export interface Pepper {
  readonly id: string
  readonly key: Redacted.Redacted<Uint8Array<ArrayBuffer>>
}

export interface SecretDigest {
  readonly pepper_id: string
  readonly digest: string
}

/** HMAC-SHA-256 under one key: of the UTF-8 of a text, as base64url without padding. */
export type Hmac = (key: Uint8Array<ArrayBuffer>) => Effect.Effect<(text: string) => Effect.Effect<string>>

const utf8 = new TextEncoder()

const webHmac: Hmac = (key) =>
  Effect.map(
    hmacSha256With(key),
    (sign) => (text) => Effect.map(sign(utf8.encode(text)), (bytes) => Base64Url.encode(bytes))
  )

export class KeyDigester extends Context.Service<
  KeyDigester,
  {
    /** The digest under each pepper, the current one first. */
    readonly digests: (
      secret: Redacted.Redacted
    ) => Effect.Effect<readonly [SecretDigest, ...ReadonlyArray<SecretDigest>]>
  }
>()("@narthex/core/records/keys/KeyDigester") {
  /** By the Web Crypto of the platform, which hands each digest to another thread and back. */
  static readonly layer = (present: Pepper, ...former: ReadonlyArray<Pepper>): Layer.Layer<KeyDigester> =>
    KeyDigester.layerBy(webHmac, present, ...former)

  /** By another implementation of HMAC-SHA-256, for example one of Node, which needs no other thread. */
  static readonly layerBy = (hmac: Hmac, present: Pepper, ...former: ReadonlyArray<Pepper>): Layer.Layer<KeyDigester> =>
    Layer.effect(
      KeyDigester,
      Effect.gen(function* () {
        const under = (pepper: Pepper) =>
          Effect.map(
            hmac(Redacted.value(pepper.key)),
            (digestOf) => (text: string) =>
              Effect.map(digestOf(text), (digest): SecretDigest => ({ pepper_id: pepper.id, digest }))
          )
        const now = yield* under(present)
        const before = yield* Effect.forEach(former, under)
        return KeyDigester.of({
          digests: (secret) => {
            const text = Redacted.value(secret)
            // A short cut, because every request comes here and former peppers are rare.
            if (before.length === 0) return Effect.map(now(text), (current) => [current] as const)
            return Effect.flatMap(now(text), (current) =>
              Effect.map(
                Effect.forEach(before, (digest) => digest(text)),
                (old) => [current, ...old] as const
              )
            )
          }
        })
      })
    )
}
