/**
 * TokenSigner on JOSE: EdDSA over Ed25519, with the same issuer and audience.
 *
 * A token must have exactly the form that this signer writes, member by member. The library alone accepts a missing or
 * unbounded `exp`, an `iat` in the future, another letter case in `typ`, further audiences and several encodings of a
 * signature. Callers decide about an `exp` in the past, because an expired token can still be refreshed.
 *
 * A verified token is remembered (`VerifiedTokens`), because a signature costs more than all other work of a request.
 * The state of its session is not: callers read it on every request.
 */
import { ForgedToken, SessionClaims, type SigningKeyStore, type StorageError, TokenSigner } from "@narthex/core"
import { Effect, Layer, type Option, Redacted, Schema } from "effect"
import { CompactSign, compactVerify } from "jose"
import type { MasterSecret } from "../MasterSecret.ts"
import { makeSigningKeyRing } from "./SigningKeyRing.ts"
import { isCanonical, textOf, utf8 } from "./segments.ts"
import { type VerifiedToken, VerifiedTokens } from "./VerifiedTokens.ts"
import type { SigningKeysUnreadable } from "./WrappedKey.ts"

const longest = 4096
const typ = "narthex-session+jwt"
const form = /^[\w-]+\.[\w-]+\.[\w-]+$/
/** An RFC 7638 thumbprint with SHA-256; a `kid` of another form is not looked up. */
const kidForm = /^[\w-]{43}$/

const longestLife = 900
/** How far the clocks of two instances may differ, in seconds. */
const skew = 30

// Strict: this signer writes these members and no others.
const Header = Schema.fromJsonString(
  Schema.Struct({
    alg: Schema.Literal("EdDSA"),
    typ: Schema.Literal(typ),
    kid: Schema.String.check(Schema.isPattern(kidForm))
  })
)
const decodeHeader = Schema.decodeUnknownOption(Header, { onExcessProperty: "error" })

const Claims = Schema.fromJsonString(
  Schema.Struct({ ...SessionClaims.fields, iss: Schema.String, aud: Schema.String }).check(
    Schema.makeFilter(({ exp, iat }) => exp >= iat && exp - iat <= longestLife)
  )
)
const decodeClaims = Schema.decodeUnknownOption(Claims, { onExcessProperty: "error" })

export interface TokenSignerOptions {
  /** The public URL of the API (`NARTHEX_API_URL`): `iss` and `aud` of every token. */
  readonly issuer: string
}

const make = Effect.fn("JoseTokenSigner.make")(function* ({ issuer }: TokenSignerOptions) {
  const ring = yield* makeSigningKeyRing()
  const verified = new VerifiedTokens()

  /** The part of the verification that depends on nothing but the token and the key that signed it. */
  const open = Effect.fnUntraced(function* (text: string) {
    if (text.length > longest || !form.test(text)) return yield* new ForgedToken({})
    const [head = "", , signature = ""] = text.split(".")
    if (!isCanonical(signature)) return yield* new ForgedToken({})
    const { kid } = yield* ours(decodeHeader(textOf(head)))
    const key = yield* ours(yield* ring.find(kid))

    const { payload } = yield* Effect.tryPromise({
      try: () => compactVerify(text, key.public_key, { algorithms: ["EdDSA"] }),
      catch: () => new ForgedToken({})
    })
    const { aud, iss, ...claims } = yield* ours(decodeClaims(utf8(payload)))
    if (iss !== issuer || aud !== issuer) return yield* new ForgedToken({})
    return { kid, claims }
  })

  /** The claims, unless the token says that it is from the future. */
  const claimsNow = ({ claims }: VerifiedToken) =>
    Effect.clockWith((clock) =>
      claims.iat > Math.floor(clock.currentTimeMillisUnsafe() / 1000) + skew
        ? new ForgedToken({})
        : Effect.succeed(claims)
    )

  const verify = (token: Redacted.Redacted) =>
    Effect.suspend(() => {
      const text = Redacted.value(token)
      const known = verified.find(text)
      if (known === undefined)
        return Effect.flatMap(open(text), (opened) =>
          Effect.tap(claimsNow(opened), () => Effect.sync(() => verified.add(text, opened)))
        )
      // A key may have been retired since its token was verified.
      return Effect.flatMap(Effect.flatMap(ring.find(known.kid), ours), () => claimsNow(known))
    })

  return TokenSigner.of({
    sign: Effect.fn("TokenSigner.sign")(function* (claims) {
      const key = yield* ring.signing
      const payload = new TextEncoder().encode(JSON.stringify({ iss: issuer, aud: issuer, ...claims }))
      const token = yield* Effect.promise(() =>
        new CompactSign(payload).setProtectedHeader({ alg: "EdDSA", kid: key.kid, typ }).sign(key.private_key)
      )
      return Redacted.make(token, { label: "session token" })
    }),
    verify: (token): Effect.Effect<SessionClaims, ForgedToken | StorageError> => verify(token),
    keys: Effect.map(ring.published, (keys) => ({ keys: keys.map((key) => key.public_jwk) }))
  })
})

const ours = <A>(found: Option.Option<A>): Effect.Effect<A, ForgedToken> =>
  Effect.mapError(Effect.fromOption(found), () => new ForgedToken({}))

export const JoseTokenSigner = {
  /** Fails to build when the store cannot be read, or holds keys that the master secret does not open. */
  layer: (
    options: TokenSignerOptions
  ): Layer.Layer<TokenSigner, SigningKeysUnreadable | StorageError, SigningKeyStore | MasterSecret> =>
    Layer.effect(TokenSigner, make(options))
}
