/** The users of the examples. Your own service provides `OpenIdProviders` of `@narthex/http` instead. */
import { IdentityProvider, type VerifiedIdentity } from "@narthex/core"
import { DateTime, Redacted } from "effect"

const identityOf = (email: string): VerifiedIdentity => ({
  provider: "memory",
  issuer: "https://memory.invalid",
  subject: email,
  email,
  email_verified: true,
  name: null,
  token_digest: `the token of ${email}`,
  expires_at: DateTime.makeUnsafe("2100-01-01T00:00:00Z")
})

/** Accepts exactly these tokens. The email address stands for the id token that a real provider would sign. */
export const People = IdentityProvider.layerMemory(
  new Map(["ada@example.com", "grace@example.com"].map((email) => [email, identityOf(email)]))
)

/** The input of an exchange for this user. */
export const idToken = (email: string) => ({ id_token: Redacted.make(email), provider: null, nonce: null })
