/**
 * The problems of `problemCatalog` as RFC 9457 types, one class per code.
 *
 * Handlers leave `request_id` out; the server adds it to every answer, and `detail` where they leave it out: the
 * sentences of the code. They leave it out wherever the body must be the same for several causes: `not_found` for
 * foreign, deleted, malformed and unknown ids, `invalid_token` for every credential that is not valid.
 */
import { Option, Predicate, Schema } from "effect"
import { HttpApiError } from "effect/http-api"
import { isProblemCode, type ProblemCode, problemCatalog } from "./problemCatalog.ts"

/** The tag of a class, its row of the catalog, and its members: those of every problem, and `fields`. */
const problem = <
  const Tag extends string,
  const Code extends ProblemCode,
  const Fields extends HttpApiError.ProblemExtensionFields
>(
  tag: Tag,
  code: Code,
  fields: Fields
) => {
  const type = `urn:narthex:problem:${code}` as const
  const { status, title }: (typeof problemCatalog)[Code] = problemCatalog[code]
  const members = { code: Schema.tag(code), request_id: Schema.optionalKey(Schema.String) }
  return [tag, { type, status, title }, { ...members, ...fields }] as const
}

/** The right that the call requires, and the right that the credential has. */
const rights = {
  required: Schema.optionalKey(Schema.NullOr(Schema.String)),
  held: Schema.optionalKey(Schema.NullOr(Schema.String))
}
const retry = { retry_after_ms: Schema.optionalKey(Schema.Int) }

/** Which member of the request is invalid, and what was expected. It never holds the value that was sent. */
export const RequestIssue = Schema.Struct({
  path: Schema.Array(Schema.Union([Schema.String, Schema.Int])),
  message: Schema.String
})
export type RequestIssue = typeof RequestIssue.Type
const issues = { errors: Schema.optionalKey(Schema.Array(RequestIssue)) }

export class MalformedRequestProblem extends HttpApiError.Problem<MalformedRequestProblem>()(
  ...problem("MalformedRequestProblem", "malformed_request", {})
) {}

export class UnauthenticatedProblem extends HttpApiError.Problem<UnauthenticatedProblem>()(
  ...problem("UnauthenticatedProblem", "unauthenticated", {})
) {}

export class InvalidTokenProblem extends HttpApiError.Problem<InvalidTokenProblem>()(
  ...problem("InvalidTokenProblem", "invalid_token", {})
) {}

export class InvalidCodeProblem extends HttpApiError.Problem<InvalidCodeProblem>()(
  ...problem("InvalidCodeProblem", "invalid_code", {})
) {}

export class TokenExpiredProblem extends HttpApiError.Problem<TokenExpiredProblem>()(
  ...problem("TokenExpiredProblem", "token_expired", {})
) {}

export class SignInRequiredProblem extends HttpApiError.Problem<SignInRequiredProblem>()(
  ...problem("SignInRequiredProblem", "sign_in_required", {})
) {}

export class AlphaPendingProblem extends HttpApiError.Problem<AlphaPendingProblem>()(
  ...problem("AlphaPendingProblem", "alpha_pending", rights)
) {}

export class EmailNotAllowedProblem extends HttpApiError.Problem<EmailNotAllowedProblem>()(
  ...problem("EmailNotAllowedProblem", "email_not_allowed", {})
) {}

export class ScopeInsufficientProblem extends HttpApiError.Problem<ScopeInsufficientProblem>()(
  ...problem("ScopeInsufficientProblem", "scope_insufficient", rights)
) {}

export class CapabilityInsufficientProblem extends HttpApiError.Problem<CapabilityInsufficientProblem>()(
  ...problem("CapabilityInsufficientProblem", "capability_insufficient", rights)
) {}

export class RoleInsufficientProblem extends HttpApiError.Problem<RoleInsufficientProblem>()(
  ...problem("RoleInsufficientProblem", "role_insufficient", rights)
) {}

export class SessionRequiredProblem extends HttpApiError.Problem<SessionRequiredProblem>()(
  ...problem("SessionRequiredProblem", "session_required", rights)
) {}

export class KeySelfOnlyProblem extends HttpApiError.Problem<KeySelfOnlyProblem>()(
  ...problem("KeySelfOnlyProblem", "key_self_only", rights)
) {}

export class NotAMemberProblem extends HttpApiError.Problem<NotAMemberProblem>()(
  ...problem("NotAMemberProblem", "not_a_member", rights)
) {}

export class AddressNotListedProblem extends HttpApiError.Problem<AddressNotListedProblem>()(
  ...problem("AddressNotListedProblem", "address_not_listed", {})
) {}

export class NotFoundProblem extends HttpApiError.Problem<NotFoundProblem>()(
  ...problem("NotFoundProblem", "not_found", {})
) {}

export class MethodNotAllowedProblem extends HttpApiError.Problem<MethodNotAllowedProblem>()(
  ...problem("MethodNotAllowedProblem", "method_not_allowed", {})
) {}

export class NotAcceptableProblem extends HttpApiError.Problem<NotAcceptableProblem>()(
  ...problem("NotAcceptableProblem", "not_acceptable", {})
) {}

export class ConflictProblem extends HttpApiError.Problem<ConflictProblem>()(
  ...problem("ConflictProblem", "conflict", {})
) {}

export class IdempotencyConflictProblem extends HttpApiError.Problem<IdempotencyConflictProblem>()(
  ...problem("IdempotencyConflictProblem", "idempotency_conflict", {})
) {}

export class IdempotencyInProgressProblem extends HttpApiError.Problem<IdempotencyInProgressProblem>()(
  ...problem("IdempotencyInProgressProblem", "idempotency_in_progress", retry)
) {}

export class BodyTooLargeProblem extends HttpApiError.Problem<BodyTooLargeProblem>()(
  ...problem("BodyTooLargeProblem", "body_too_large", {})
) {}

export class UnsupportedMediaTypeProblem extends HttpApiError.Problem<UnsupportedMediaTypeProblem>()(
  ...problem("UnsupportedMediaTypeProblem", "unsupported_media_type", {})
) {}

export class InvalidRequestProblem extends HttpApiError.Problem<InvalidRequestProblem>()(
  ...problem("InvalidRequestProblem", "invalid_request", issues)
) {}

export class RegionRequiredProblem extends HttpApiError.Problem<RegionRequiredProblem>()(
  ...problem("RegionRequiredProblem", "region_required", {})
) {}

export class RegionUnknownProblem extends HttpApiError.Problem<RegionUnknownProblem>()(
  ...problem("RegionUnknownProblem", "region_unknown", {})
) {}

export class RegionImmutableProblem extends HttpApiError.Problem<RegionImmutableProblem>()(
  ...problem("RegionImmutableProblem", "region_immutable", {})
) {}

export class MalformedCidrProblem extends HttpApiError.Problem<MalformedCidrProblem>()(
  ...problem("MalformedCidrProblem", "malformed_cidr", issues)
) {}

/** `quota` names the quota: `held` is what the organization has of it, `allowed` how much it may have. */
export class QuotaExceededProblem extends HttpApiError.Problem<QuotaExceededProblem>()(
  ...problem("QuotaExceededProblem", "quota_exceeded", {
    quota: Schema.optionalKey(Schema.String),
    held: Schema.optionalKey(Schema.Int),
    allowed: Schema.optionalKey(Schema.Int)
  })
) {}

/** `blocking_operation_id` names the operation that must finish first. */
export class ResourceBusyProblem extends HttpApiError.Problem<ResourceBusyProblem>()(
  ...problem("ResourceBusyProblem", "resource_busy", {
    ...retry,
    blocking_operation_id: Schema.optionalKey(Schema.NullOr(Schema.String))
  })
) {}

/** `limit` names the limit; `held` counts against it, and `allowed` is the most that may. */
export class RateLimitedProblem extends HttpApiError.Problem<RateLimitedProblem>()(
  ...problem("RateLimitedProblem", "rate_limited", {
    ...retry,
    limit: Schema.optionalKey(Schema.String),
    held: Schema.optionalKey(Schema.Int),
    allowed: Schema.optionalKey(Schema.Int)
  })
) {}

export class InternalProblem extends HttpApiError.Problem<InternalProblem>()(
  ...problem("InternalProblem", "internal", {})
) {}

export class UnavailableProblem extends HttpApiError.Problem<UnavailableProblem>()(
  ...problem("UnavailableProblem", "unavailable", retry)
) {}

/** The class of each code. */
export const problems = {
  malformed_request: MalformedRequestProblem,
  unauthenticated: UnauthenticatedProblem,
  invalid_token: InvalidTokenProblem,
  invalid_code: InvalidCodeProblem,
  token_expired: TokenExpiredProblem,
  sign_in_required: SignInRequiredProblem,
  alpha_pending: AlphaPendingProblem,
  email_not_allowed: EmailNotAllowedProblem,
  scope_insufficient: ScopeInsufficientProblem,
  capability_insufficient: CapabilityInsufficientProblem,
  role_insufficient: RoleInsufficientProblem,
  session_required: SessionRequiredProblem,
  key_self_only: KeySelfOnlyProblem,
  not_a_member: NotAMemberProblem,
  address_not_listed: AddressNotListedProblem,
  not_found: NotFoundProblem,
  method_not_allowed: MethodNotAllowedProblem,
  not_acceptable: NotAcceptableProblem,
  conflict: ConflictProblem,
  idempotency_conflict: IdempotencyConflictProblem,
  idempotency_in_progress: IdempotencyInProgressProblem,
  body_too_large: BodyTooLargeProblem,
  unsupported_media_type: UnsupportedMediaTypeProblem,
  invalid_request: InvalidRequestProblem,
  region_required: RegionRequiredProblem,
  region_unknown: RegionUnknownProblem,
  region_immutable: RegionImmutableProblem,
  malformed_cidr: MalformedCidrProblem,
  quota_exceeded: QuotaExceededProblem,
  resource_busy: ResourceBusyProblem,
  rate_limited: RateLimitedProblem,
  internal: InternalProblem,
  unavailable: UnavailableProblem
} as const satisfies Record<ProblemCode, unknown>

export type AnyProblem = InstanceType<(typeof problems)[ProblemCode]>

/** The class of the code that a value has, if the contract knows it. */
const classOf = (value: unknown): (typeof problems)[ProblemCode] | undefined => {
  const code = Predicate.hasProperty(value, "code") ? value.code : undefined
  return typeof code === "string" && isProblemCode(code) ? problems[code] : undefined
}

/** The body of a problem, as the API answers it; none for another value. */
export const bodyOfProblem = (problem: unknown): Option.Option<unknown> => {
  const known = classOf(problem)
  return known === undefined ? Option.none() : Schema.encodeUnknownOption(known)(problem)
}

/** The problem that a body describes, with all members that the contract defines; none for another body. */
export const problemOfBody = (body: unknown): Option.Option<AnyProblem> => {
  const known = classOf(body)
  return known === undefined ? Option.none() : Schema.decodeUnknownOption(known)(body)
}
