/**
 * The problems of `problemCatalog` as RFC 9457 types, one class per code.
 *
 * Handlers leave `request_id` out; the server adds it to every answer, and `detail` where they leave it out: the
 * sentences of the code. They leave it out wherever the body must be the same for several causes: `not_found` for
 * foreign, deleted, malformed and unknown ids, `invalid_token` for every credential that is not valid.
 */
import { Schema } from "effect"
import { HttpApiError } from "effect/http-api"
import { type ProblemCode, problemCatalog } from "./problemCatalog.ts"

const declare = <const Code extends ProblemCode>(code: Code) => ({
  type: `urn:narthex:problem:${code}` as const,
  status: problemCatalog[code].status,
  title: problemCatalog[code].title
})

const members = <const Code extends ProblemCode>(code: Code) => ({
  code: Schema.tag(code),
  request_id: Schema.optionalKey(Schema.String)
})

/** What the call requires, and what the credential holds. */
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

export class MalformedRequestProblem extends HttpApiError.Problem<MalformedRequestProblem>()(
  "MalformedRequestProblem",
  declare("malformed_request"),
  members("malformed_request")
) {}

export class UnauthenticatedProblem extends HttpApiError.Problem<UnauthenticatedProblem>()(
  "UnauthenticatedProblem",
  declare("unauthenticated"),
  members("unauthenticated")
) {}

export class InvalidTokenProblem extends HttpApiError.Problem<InvalidTokenProblem>()(
  "InvalidTokenProblem",
  declare("invalid_token"),
  members("invalid_token")
) {}

export class InvalidCodeProblem extends HttpApiError.Problem<InvalidCodeProblem>()(
  "InvalidCodeProblem",
  declare("invalid_code"),
  members("invalid_code")
) {}

export class TokenExpiredProblem extends HttpApiError.Problem<TokenExpiredProblem>()(
  "TokenExpiredProblem",
  declare("token_expired"),
  members("token_expired")
) {}

export class SignInRequiredProblem extends HttpApiError.Problem<SignInRequiredProblem>()(
  "SignInRequiredProblem",
  declare("sign_in_required"),
  members("sign_in_required")
) {}

export class AlphaPendingProblem extends HttpApiError.Problem<AlphaPendingProblem>()(
  "AlphaPendingProblem",
  declare("alpha_pending"),
  { ...members("alpha_pending"), ...rights }
) {}

export class EmailNotAllowedProblem extends HttpApiError.Problem<EmailNotAllowedProblem>()(
  "EmailNotAllowedProblem",
  declare("email_not_allowed"),
  members("email_not_allowed")
) {}

export class ScopeInsufficientProblem extends HttpApiError.Problem<ScopeInsufficientProblem>()(
  "ScopeInsufficientProblem",
  declare("scope_insufficient"),
  { ...members("scope_insufficient"), ...rights }
) {}

export class CapabilityInsufficientProblem extends HttpApiError.Problem<CapabilityInsufficientProblem>()(
  "CapabilityInsufficientProblem",
  declare("capability_insufficient"),
  { ...members("capability_insufficient"), ...rights }
) {}

export class RoleInsufficientProblem extends HttpApiError.Problem<RoleInsufficientProblem>()(
  "RoleInsufficientProblem",
  declare("role_insufficient"),
  { ...members("role_insufficient"), ...rights }
) {}

export class SessionRequiredProblem extends HttpApiError.Problem<SessionRequiredProblem>()(
  "SessionRequiredProblem",
  declare("session_required"),
  { ...members("session_required"), ...rights }
) {}

export class KeySelfOnlyProblem extends HttpApiError.Problem<KeySelfOnlyProblem>()(
  "KeySelfOnlyProblem",
  declare("key_self_only"),
  { ...members("key_self_only"), ...rights }
) {}

export class NotAMemberProblem extends HttpApiError.Problem<NotAMemberProblem>()(
  "NotAMemberProblem",
  declare("not_a_member"),
  { ...members("not_a_member"), ...rights }
) {}

export class AddressNotListedProblem extends HttpApiError.Problem<AddressNotListedProblem>()(
  "AddressNotListedProblem",
  declare("address_not_listed"),
  members("address_not_listed")
) {}

export class NotFoundProblem extends HttpApiError.Problem<NotFoundProblem>()(
  "NotFoundProblem",
  declare("not_found"),
  members("not_found")
) {}

export class MethodNotAllowedProblem extends HttpApiError.Problem<MethodNotAllowedProblem>()(
  "MethodNotAllowedProblem",
  declare("method_not_allowed"),
  members("method_not_allowed")
) {}

export class NotAcceptableProblem extends HttpApiError.Problem<NotAcceptableProblem>()(
  "NotAcceptableProblem",
  declare("not_acceptable"),
  members("not_acceptable")
) {}

export class ConflictProblem extends HttpApiError.Problem<ConflictProblem>()(
  "ConflictProblem",
  declare("conflict"),
  members("conflict")
) {}

export class IdempotencyConflictProblem extends HttpApiError.Problem<IdempotencyConflictProblem>()(
  "IdempotencyConflictProblem",
  declare("idempotency_conflict"),
  members("idempotency_conflict")
) {}

export class IdempotencyInProgressProblem extends HttpApiError.Problem<IdempotencyInProgressProblem>()(
  "IdempotencyInProgressProblem",
  declare("idempotency_in_progress"),
  { ...members("idempotency_in_progress"), ...retry }
) {}

export class BodyTooLargeProblem extends HttpApiError.Problem<BodyTooLargeProblem>()(
  "BodyTooLargeProblem",
  declare("body_too_large"),
  members("body_too_large")
) {}

export class UnsupportedMediaTypeProblem extends HttpApiError.Problem<UnsupportedMediaTypeProblem>()(
  "UnsupportedMediaTypeProblem",
  declare("unsupported_media_type"),
  members("unsupported_media_type")
) {}

export class InvalidRequestProblem extends HttpApiError.Problem<InvalidRequestProblem>()(
  "InvalidRequestProblem",
  declare("invalid_request"),
  { ...members("invalid_request"), errors: Schema.optionalKey(Schema.Array(RequestIssue)) }
) {}

export class RegionRequiredProblem extends HttpApiError.Problem<RegionRequiredProblem>()(
  "RegionRequiredProblem",
  declare("region_required"),
  members("region_required")
) {}

export class RegionUnknownProblem extends HttpApiError.Problem<RegionUnknownProblem>()(
  "RegionUnknownProblem",
  declare("region_unknown"),
  members("region_unknown")
) {}

export class RegionImmutableProblem extends HttpApiError.Problem<RegionImmutableProblem>()(
  "RegionImmutableProblem",
  declare("region_immutable"),
  members("region_immutable")
) {}

export class MalformedCidrProblem extends HttpApiError.Problem<MalformedCidrProblem>()(
  "MalformedCidrProblem",
  declare("malformed_cidr"),
  { ...members("malformed_cidr"), errors: Schema.optionalKey(Schema.Array(RequestIssue)) }
) {}

/** `quota` names the quota: `held` is what the organization has of it, `allowed` how much it may have. */
export class QuotaExceededProblem extends HttpApiError.Problem<QuotaExceededProblem>()(
  "QuotaExceededProblem",
  declare("quota_exceeded"),
  {
    ...members("quota_exceeded"),
    quota: Schema.optionalKey(Schema.String),
    held: Schema.optionalKey(Schema.Int),
    allowed: Schema.optionalKey(Schema.Int)
  }
) {}

/** `blocking_operation_id` names the operation that must finish first. */
export class ResourceBusyProblem extends HttpApiError.Problem<ResourceBusyProblem>()(
  "ResourceBusyProblem",
  declare("resource_busy"),
  { ...members("resource_busy"), ...retry, blocking_operation_id: Schema.optionalKey(Schema.NullOr(Schema.String)) }
) {}

/** `limit` names the limit; `held` counts against it, and `allowed` is the most that may. */
export class RateLimitedProblem extends HttpApiError.Problem<RateLimitedProblem>()(
  "RateLimitedProblem",
  declare("rate_limited"),
  {
    ...members("rate_limited"),
    ...retry,
    limit: Schema.optionalKey(Schema.String),
    held: Schema.optionalKey(Schema.Int),
    allowed: Schema.optionalKey(Schema.Int)
  }
) {}

export class InternalProblem extends HttpApiError.Problem<InternalProblem>()("InternalProblem", declare("internal"), {
  ...members("internal")
}) {}

export class UnavailableProblem extends HttpApiError.Problem<UnavailableProblem>()(
  "UnavailableProblem",
  declare("unavailable"),
  { ...members("unavailable"), ...retry }
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
