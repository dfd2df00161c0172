/**
 * IdentityProvider for OpenID Connect issuers, as configured.
 *
 * A token does not influence its own verification: algorithms, issuer and the location of keys come from the
 * configuration, and headers that would change them are refused. Its claims only choose between the configured
 * providers. Steps: form, header, provider, signature, claims. A provider that is down or slow delays only its own users.
 */
import {
  IdentityProvider,
  type IdTokenToVerify,
  InvalidIdToken,
  ProviderUnavailable,
  ProviderView,
  sha256,
  type VerifiedIdentity
} from "@narthex/core"
import { Clock, DateTime, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { compactVerify, errors } from "jose"
import { checkClaims, decodeClaimed, type IdTokenClaims, leewaySeconds, namesClientOf, shown } from "./IdTokenClaims.ts"
import { type IssuerKeys, type KeySet, makeIssuerKeys } from "./IssuerKeys.ts"
import { canonicalIssuer, mayVouch, type OpenIdProvider, speaksFor, usualAlgorithms } from "./OpenIdProvider.ts"
import { textOf, utf8 } from "./segments.ts"

const longest = 16_384
const form = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** `crit` may change the meaning of the header; the others name a key of the token's own choice. */
const refusedHeaders = ["crit", "jwk", "jku", "x5u", "x5c", "b64"]

const Header = Schema.fromJsonString(
  Schema.StructWithRest(
    Schema.Struct({
      alg: Schema.String,
      typ: Schema.optionalKey(Schema.String),
      kid: Schema.optionalKey(Schema.String)
    }),
    [Schema.Record(Schema.String, Schema.Unknown)]
  )
)
const decodeHeader = Schema.decodeUnknownOption(Header)

interface Configured {
  readonly provider: OpenIdProvider
  readonly keys: IssuerKeys
}

const refuse = (cause: string) => new InvalidIdToken({ cause })

const make = Effect.fnUntraced(function* (providers: ReadonlyArray<OpenIdProvider>) {
  // Providers with the same issuer share its keys.
  const issuers = new Map<string, IssuerKeys>()
  for (const { issuer } of providers) {
    if (!issuers.has(issuer)) issuers.set(issuer, yield* makeIssuerKeys(issuer))
  }
  const configured = providers.flatMap((provider): ReadonlyArray<Configured> => {
    const keys = issuers.get(provider.issuer)
    return keys === undefined ? [] : [{ provider, keys }]
  })

  /** From the choice of the provider on. */
  const verifyAt = Effect.fnUntraced(function* (
    { keys, provider }: Configured,
    request: IdTokenToVerify,
    token: string,
    header: typeof Header.Type
  ) {
    yield* checkHeader(provider, header)

    const unavailable = () => new ProviderUnavailable({ provider: provider.id })
    const jwks = yield* Effect.mapError(keys.current, unavailable)
    const payload = yield* signed(token, provider, jwks).pipe(
      Effect.catchTag("KeyUnfit", (unfit) =>
        Effect.flatMap(Effect.mapError(keys.newerThan(jwks), unavailable), (newer) =>
          Option.isSome(newer) ? signed(token, provider, newer.value) : Effect.fail(unfit)
        )
      ),
      Effect.catchTag("KeyUnfit", ({ cause }) => Effect.fail(refuse(cause)))
    )

    const now = (yield* Clock.currentTimeMillis) / 1000
    const checked = checkClaims(payload, { provider, nonce: request.nonce, now })
    if (Result.isFailure(checked)) return yield* refuse(checked.failure)
    return yield* identityOf(provider, checked.success, token.slice(0, token.lastIndexOf(".")))
  })

  const verify = Effect.fn("OpenIdProviders.verify")(function* (request: IdTokenToVerify) {
    const token = Redacted.value(request.id_token)
    if (token.length > longest || !form.test(token)) return yield* refuse("the token is not a JWT")
    const [head = "", body = ""] = token.split(".")

    const header = yield* found(decodeHeader(textOf(head)), "its header is malformed")
    const claimed = yield* found(decodeClaimed(textOf(body)), "its claims are malformed")
    const chosen = yield* found(choose(configured, request.provider, claimed), "no configured provider has its issuer")
    return yield* Effect.mapError(verifyAt(chosen, request, token, header), (error) =>
      error._tag === "InvalidIdToken" ? new InvalidIdToken({ cause: error.cause, provider: chosen.provider.id }) : error
    )
  })

  return IdentityProvider.of({
    providers: providers.map(({ id, issuer, name }) => new ProviderView({ id, name, issuer })),
    verify
  })
})

/**
 * The set has no key for this token, or several, or its key did not sign it: a newer set may, because some providers
 * publish a new key under the same `kid`.
 */
class KeyUnfit extends Schema.TaggedError<KeyUnfit>()("KeyUnfit", { cause: Schema.String }) {}

/** The payload as text, if a key of the set has signed it. */
const signed = Effect.fnUntraced(function* (token: string, provider: OpenIdProvider, set: KeySet) {
  const algorithms = [...(provider.algorithms ?? usualAlgorithms)]
  const verified = yield* Effect.tryPromise({
    try: () => compactVerify(token, set.pick, { algorithms }),
    catch: (cause) =>
      cause instanceof errors.JWKSNoMatchingKey
        ? new KeyUnfit({ cause: "its key is not in the provider's key set" })
        : cause instanceof errors.JWSSignatureVerificationFailed
          ? new KeyUnfit({ cause: `its signature is not good: ${String(cause)}` })
          : refuse(`its signature is not good: ${String(cause)}`)
  })
  const payload = utf8(verified.payload)
  const claimed = yield* found(decodeClaimed(payload), "its claims are malformed")
  const { kid } = verified.protectedHeader
  const vouches = set.jwks.filter((jwk) => jwk.kid === kid).every((jwk) => mayVouch(jwk, claimed))
  return vouches ? (payload ?? "") : yield* refuse("its key belongs to another issuer")
})

/** The provider that the request names, else the one with the token's `iss`; if several have it, the one with its `aud`. */
function choose(
  configured: ReadonlyArray<Configured>,
  named: string | null,
  claimed: Parameters<typeof speaksFor>[1] & { readonly aud?: unknown }
): Option.Option<Configured> {
  const fitting = configured.filter(
    ({ provider }) => (named === null || provider.id === named) && speaksFor(provider.issuer, claimed)
  )
  const byAudience = fitting.find(({ provider }) => namesClientOf(provider, claimed.aud))
  return Option.fromUndefinedOr(byAudience ?? fitting[0])
}

function checkHeader(provider: OpenIdProvider, header: typeof Header.Type): Effect.Effect<void, InvalidIdToken> {
  const algorithms: ReadonlyArray<string> = provider.algorithms ?? usualAlgorithms
  if (!algorithms.includes(header.alg)) return Effect.fail(refuse("its algorithm is not the provider's"))
  // An issuer signs access tokens and logout tokens with the same keys (RFC 8725 §3.11).
  if (header.typ !== undefined && !/^(application\/)?jwt$/i.test(header.typ)) {
    return Effect.fail(refuse("its typ is not that of an id token"))
  }
  const strange = refusedHeaders.find((name) => Object.hasOwn(header, name))
  return strange === undefined ? Effect.void : Effect.fail(refuse(`its header has ${strange}`))
}

/** Apple and Cognito send the claim as text. */
const isTrue = (claim: unknown) => claim === true || claim === "true"

const identityOf = Effect.fnUntraced(function* (provider: OpenIdProvider, claims: IdTokenClaims, signingInput: string) {
  const email = shown(claims.email, 320)
  const issuer = canonicalIssuer(provider.issuer, claims)
  const identity: VerifiedIdentity = {
    provider: provider.id,
    issuer,
    subject: claims.sub,
    email,
    email_verified: email !== null && provider.email_trust !== "never" && isTrue(claims.email_verified),
    name: shown(claims.name, 200),
    token_digest: yield* sha256(namesToken(issuer, claims.jti, signingInput)),
    // From this instant `verify` refuses the token; until then a used one must be remembered.
    expires_at: DateTime.makeUnsafe(Math.ceil((claims.exp + leewaySeconds) * 1000))
  }
  return identity
})

/** Without the signature: a signature has several encodings, and each would count as a new token. */
const namesToken = (issuer: string, jti: string | undefined, signingInput: string): string =>
  JSON.stringify(jti === undefined || jti === "" ? [issuer, null, signingInput] : [issuer, jti])

const found = <A>(option: Option.Option<A>, cause: string): Effect.Effect<A, InvalidIdToken> =>
  Effect.mapError(Effect.fromOption(option), () => refuse(cause))

export const OpenIdProviders = {
  layer: (providers: ReadonlyArray<OpenIdProvider>): Layer.Layer<IdentityProvider> =>
    Layer.effect(IdentityProvider, make(providers))
}
