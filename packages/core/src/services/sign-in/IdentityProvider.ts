/**
 * Port: the OpenID Connect providers that people sign in with, and the verification of their id tokens.
 *
 * Every refusal is the same error, so that no answer reveals which check failed. Only a provider whose keys cannot be
 * fetched has its own error, because then a retry helps.
 */
import { Context, type DateTime, Effect, Layer, Redacted, Schema } from "effect"

/** A provider as the sign-in page offers it. */
export class ProviderView extends Schema.Class<ProviderView>("ProviderView")({
  id: Schema.String,
  name: Schema.String,
  issuer: Schema.String
}) {}

/** The identity that a verified id token states. */
export interface VerifiedIdentity {
  readonly provider: string
  readonly issuer: string
  readonly subject: string
  readonly email: string | null
  readonly email_verified: boolean
  readonly name: string | null
  /** Digest of the token's `jti`, or of the whole token: identifies it among all tokens. */
  readonly token_digest: string
  readonly expires_at: DateTime.Utc
}

export class InvalidIdToken extends Schema.TaggedError<InvalidIdToken>()("InvalidIdToken", {
  /** For the operator's log alone. */
  cause: Schema.String,
  /** The id of the configured provider, once it is known; for the log too. */
  provider: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    return "The id token is not valid."
  }
}

export class ProviderUnavailable extends Schema.TaggedError<ProviderUnavailable>()("ProviderUnavailable", {
  provider: Schema.String
}) {
  override get message() {
    return `The keys of the identity provider "${this.provider}" cannot be reached. Try again.`
  }
}

export interface IdTokenToVerify {
  readonly id_token: Redacted.Redacted
  /** Left out: the token's issuer decides, and where two providers have one issuer, its audience. */
  readonly provider: string | null
  readonly nonce: string | null
}

export class IdentityProvider extends Context.Service<
  IdentityProvider,
  {
    readonly providers: ReadonlyArray<ProviderView>
    readonly verify: (token: IdTokenToVerify) => Effect.Effect<VerifiedIdentity, InvalidIdToken | ProviderUnavailable>
  }
>()("@narthex/core/services/sign-in/IdentityProvider") {
  /** Accepts exactly these tokens. */
  static readonly layerMemory = (identities: ReadonlyMap<string, VerifiedIdentity>): Layer.Layer<IdentityProvider> =>
    Layer.succeed(IdentityProvider, {
      providers: [new ProviderView({ id: "memory", name: "Memory", issuer: "https://memory.invalid" })],
      verify: ({ id_token }) => {
        const identity = identities.get(Redacted.value(id_token))
        return identity === undefined
          ? Effect.fail(new InvalidIdToken({ cause: "unknown token" }))
          : Effect.succeed(identity)
      }
    })
}
