/**
 * The validation of an id token's claims, after its signature (OpenID Connect Core §3.1.3.7). Pure.
 *
 * Clocks may differ by a minute in both directions. An email address counts as verified only if the claim is `true`: some
 * providers send the string "true" for addresses that a user typed into a form.
 */
import { isPrintable } from "@narthex/api"
import { Result, Schema, SchemaIssue } from "effect"
import { type OpenIdProvider, speaksFor } from "./OpenIdProvider.ts"

export const leewaySeconds = 60
/** The end of the year 9999, in seconds: RFC 3339 cannot express later instants. */
const lastInstant = 253_402_300_799

const NumericDate = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: lastInstant }))

const IdTokenClaims = Schema.Struct({
  iss: Schema.NonEmptyString,
  sub: Schema.NonEmptyString.check(
    Schema.makeFilter((sub) => sub.length <= 255 && isPlain(sub)) // longer is against the standard; NUL, no database takes
  ),
  aud: Schema.Union([Schema.NonEmptyString, Schema.Array(Schema.String)]),
  azp: Schema.optionalKey(Schema.String),
  exp: NumericDate,
  iat: NumericDate,
  nbf: Schema.optionalKey(NumericDate),
  nonce: Schema.optionalKey(Schema.String),
  jti: Schema.optionalKey(Schema.String),
  tid: Schema.optionalKey(Schema.Unknown),
  email: Schema.optionalKey(Schema.NullOr(Schema.String)),
  email_verified: Schema.optionalKey(Schema.Unknown),
  name: Schema.optionalKey(Schema.NullOr(Schema.String))
})
export type IdTokenClaims = typeof IdTokenClaims.Type

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(IdTokenClaims))

/** The unverified claims by which the provider of a token is chosen. */
const Claimed = Schema.Struct({
  iss: Schema.String,
  aud: Schema.optionalKey(Schema.Unknown),
  tid: Schema.optionalKey(Schema.Unknown)
})
export type Claimed = typeof Claimed.Type
export const decodeClaimed = Schema.decodeUnknownOption(Schema.fromJsonString(Claimed))

export const audiences = (aud: unknown): ReadonlyArray<unknown> => (Array.isArray(aud) ? aud : [aud])

export const namesClientOf = (provider: OpenIdProvider, aud: unknown): boolean =>
  audiences(aud).some((one) => typeof one === "string" && provider.client_ids.includes(one))

export interface Expectation {
  readonly provider: OpenIdProvider
  readonly nonce: string | null
  /** Seconds since 1970. */
  readonly now: number
}

/** The claims, or what is wrong with them, as a phrase for the operator's log. */
export const checkClaims = (payload: string, expected: Expectation): Result.Result<IdTokenClaims, string> => {
  const { nonce, now, provider } = expected
  const decoded = decode(payload)
  if (Result.isFailure(decoded)) return Result.fail(`its claims are malformed: ${described(decoded.failure.issue)}`)
  const claims = decoded.success
  const wrong =
    (!speaksFor(provider.issuer, claims) && "its iss is not the provider's issuer") ||
    (!namesClientOf(provider, claims.aud) && "its aud is another client") ||
    (claims.azp !== undefined && !provider.client_ids.includes(claims.azp) && "its azp is another client") ||
    (claims.azp === undefined && audiences(claims.aud).length > 1 && "its aud has several entries and it has no azp") ||
    (now >= claims.exp + leewaySeconds && "it has expired") ||
    (claims.iat > now + leewaySeconds && "its iat is in the future") ||
    (claims.nbf !== undefined && claims.nbf > now + leewaySeconds && "it is not valid yet (nbf)") ||
    (nonce !== null && claims.nonce !== nonce && "its nonce is not the one that was sent")
  return wrong === false ? Result.succeed(claims) : Result.fail(wrong)
}

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

/** Names the claim and what was expected of it, never its value. */
const described = (issue: SchemaIssue.Issue) =>
  issuesOf(issue)
    .issues.map(({ message, path = [] }) => `${path.map(String).join(".")} ${message}`)
    .join(", ")

/** Text to display, or `null` if it is empty, too long, or holds characters that pages and databases refuse. */
export const shown = (text: string | null | undefined, most: number): string | null =>
  text !== null && text !== undefined && text.trim() !== "" && text.length <= most && isPlain(text) ? text : null

function isPlain(text: string): boolean {
  return text.isWellFormed() && isPrintable(text)
}
