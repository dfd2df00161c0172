/**
 * A configured identity provider (`NARTHEX_PROVIDERS`), and which values of `iss` belong to it.
 *
 * For two issuers, equal strings are not enough. Google writes `iss` with and without the scheme. Entra's shared endpoints
 * (`common`, `organizations`) name no tenant, but every token names its tenant in `tid`, and `iss` must agree with it.
 */
import { Schema } from "effect"

/** Asymmetric algorithms only: with HS* the "public" key would be the secret. */
export const SigningAlgorithm = Schema.Literals([
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519"
])
export type SigningAlgorithm = typeof SigningAlgorithm.Type

/** The default: the algorithms with which common providers sign. */
export const usualAlgorithms: ReadonlyArray<SigningAlgorithm> = ["RS256", "ES256", "EdDSA"]

/** `email_verified`: trust the claim. `never`: addresses of this provider are for display only. */
export const EmailTrust = Schema.Literals(["email_verified", "never"])

const text = (most: number) =>
  Schema.String.check(
    Schema.makeFilter((value) => (value.trim() !== "" && value.length <= most) || `must have 1 to ${most} characters`)
  )

/** How the provider sends its answer to the console: in the address, or in a form that it posts. */
export const ResponseMode = Schema.Literals(["query", "form_post"])

export const OpenIdProvider = Schema.Struct({
  id: Schema.String.check(
    Schema.makeFilter(
      (id) =>
        /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(id) || "must be 1 to 63 letters, digits, dots, dashes or underscores"
    )
  ),
  name: text(100),
  issuer: Schema.String.check(
    Schema.makeFilter(
      (issuer) => isTrustedUrl(issuer) || "must be an https URL, or http on loopback, without query and fragment"
    )
  ),
  client_ids: Schema.Array(text(255)).check(
    Schema.makeFilter((ids) => ids.length > 0 || "must name at least one client id")
  ),
  client_secret: Schema.optionalKey(Schema.RedactedFromValue(text(4096), { label: "client secret" })),
  algorithms: Schema.optionalKey(
    Schema.Array(SigningAlgorithm).check(Schema.makeFilter((list) => list.length > 0 || "must name an algorithm"))
  ),
  email_trust: Schema.optionalKey(EmailTrust),
  response_mode: Schema.optionalKey(ResponseMode)
})
export type OpenIdProvider = typeof OpenIdProvider.Type

/** Loopback by address, or by the name that is reserved for it (RFC 6761 §6.3). */
export const isLoopbackHost = (host: string): boolean =>
  /^127(\.\d{1,3}){3}$/.test(host) || host === "::1" || host === "[::1]" || host === "localhost"

/** Where keys may come from: https, or http on loopback. */
export const isTrustedUrl = (address: string): boolean => {
  const url = URL.parse(address)
  if (url === null || /[?#\s]/.test(address) || url.username !== "" || url.password !== "") return false
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname))
}

const google = "https://accounts.google.com"
const entraShared = /^https:\/\/login\.microsoftonline\.com\/(?:common|organizations)\/v2\.0$/
const tenantForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const entraIssuer = (tenant: string) => `https://login.microsoftonline.com/${tenant}/v2.0`

/** Whether a token with these claims is from this issuer. */
export const speaksFor = (issuer: string, claims: { readonly iss: string; readonly tid?: unknown }): boolean => {
  if (entraShared.test(issuer)) {
    return typeof claims.tid === "string" && tenantForm.test(claims.tid) && claims.iss === entraIssuer(claims.tid)
  }
  return claims.iss === issuer || (issuer === google && claims.iss === "accounts.google.com")
}

/** The canonical issuer, because a person is identified by `(iss, sub)`: Google's with the scheme, Entra's with the tenant. */
export const canonicalIssuer = (issuer: string, claims: { readonly iss: string }): string =>
  issuer === google ? google : claims.iss

/** Whether the discovery document names the issuer that it was requested from (OpenID Connect Discovery §4.3). */
export const describes = (documentIssuer: string, issuer: string): boolean =>
  documentIssuer === issuer || (entraShared.test(issuer) && documentIssuer === entraIssuer("{tenantid}"))

/**
 * Whether this key may sign for this `iss`. Entra publishes the keys of all tenants in one set, each with its issuer;
 * without the check, a key of one tenant could sign for another.
 */
export const mayVouch = (
  jwk: Readonly<Record<string, unknown>>,
  claims: { readonly iss: string; readonly tid?: unknown }
): boolean => {
  const issuer = jwk["issuer"]
  return (
    issuer === undefined ||
    (typeof issuer === "string" && issuer.replace("{tenantid}", String(claims.tid)) === claims.iss)
  )
}
