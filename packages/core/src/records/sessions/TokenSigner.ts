/**
 * Port: signs the claims of a session, and verifies the signature of a token.
 *
 * The signer checks the signature and the form of the claims, nothing else. Callers check expiry and the session: an
 * expired token is still a refresh credential. A token of `layerMemory` is not a JWT; its claims are kept in memory,
 * and nothing but this port can read them.
 */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { Entropy } from "../../Entropy.ts"
import type { StorageError } from "../../StorageError.ts"
import type { SessionClaims } from "./Session.ts"

/** Forged, malformed, or signed with an unknown key. Callers never learn which. */
export class ForgedToken extends Schema.TaggedError<ForgedToken>()("ForgedToken", {}) {
  override get message() {
    return "The token is not valid."
  }
}

/** A JWK Set (RFC 7517 §5). */
export const KeySet = Schema.Struct({ keys: Schema.Array(Schema.Record(Schema.String, Schema.Json)) })
export type KeySet = typeof KeySet.Type

export class TokenSigner extends Context.Service<
  TokenSigner,
  {
    readonly sign: (claims: SessionClaims) => Effect.Effect<Redacted.Redacted, StorageError>
    readonly verify: (token: Redacted.Redacted) => Effect.Effect<SessionClaims, ForgedToken | StorageError>
    /** The public keys of every token that may still be presented. */
    readonly keys: Effect.Effect<KeySet, StorageError>
  }
>()("@narthex/core/records/sessions/TokenSigner") {
  static readonly layerMemory: Layer.Layer<TokenSigner> = Layer.effect(
    TokenSigner,
    Effect.gen(function* () {
      const entropy = yield* Entropy
      const signed = new Map<string, SessionClaims>()
      return TokenSigner.of({
        sign: (claims) =>
          Effect.map(entropy.bytes(32), (bytes) => {
            const token = `${Base64Url.encode(JSON.stringify({ sub: claims.sub }))}.memory.${Base64Url.encode(bytes)}`
            signed.set(token, claims)
            return Redacted.make(token, { label: "session token" })
          }),
        verify: (token) =>
          Effect.mapError(Effect.fromNullishOr(signed.get(Redacted.value(token))), () => new ForgedToken({})),
        keys: Effect.succeed({ keys: [] })
      })
    })
  )
}
