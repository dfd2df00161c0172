/** Id tokens as our hostile provider signs them, and the identity provider that is to judge them. */
import { IdentityProvider, type IdTokenToVerify } from "@narthex/core"
import { Context, Effect, Layer, Redacted } from "effect"
import type { OpenIdProvider } from "../../src/sessions/OpenIdProvider.ts"
import { OpenIdProviders } from "../../src/sessions/OpenIdProviders.ts"
import type { HostileProvider } from "./HostileProvider.ts"
import { keys } from "./HostileProvider.ts"
import { type Json, jws, rs256 } from "./jws.ts"
import { now } from "./signing.ts"

export const clientId = "narthex-console"

export const idHeader: Json = { alg: "RS256", kid: "rsa-1", typ: "JWT" }

export const idClaims = (issuer: string): Json => ({
  iss: issuer,
  sub: "person-1",
  aud: clientId,
  iat: now,
  exp: now + 300,
  jti: "token-1",
  nonce: "nonce-1",
  email: "Ada@Example.com",
  email_verified: true,
  name: "Ada"
})

/** A good token, with what may differ. */
export const idToken = (issuer: string, more: Json = {}, header: Json = {}) =>
  jws({ ...idHeader, ...header }, { ...idClaims(issuer), ...more }, rs256(keys.rsa.privateKey))

export const providerAt = (issuer: string, more: Partial<OpenIdProvider> = {}): OpenIdProvider => ({
  id: "hostile",
  name: "Hostile",
  issuer,
  client_ids: [clientId],
  ...more
})

export const judging = (...providers: ReadonlyArray<OpenIdProvider>) =>
  Effect.map(Layer.build(OpenIdProviders.layer(providers)), (context) => Context.get(context, IdentityProvider))

export const judge = (hostile: HostileProvider, more: Partial<OpenIdProvider> = {}) =>
  judging(providerAt(hostile.issuer, more))

export const asking = (token: string, more: Partial<IdTokenToVerify> = {}): IdTokenToVerify => ({
  id_token: Redacted.make(token),
  provider: null,
  nonce: "nonce-1",
  ...more
})
