/**
 * The problems of `problemCatalog` as RFC 9457 types, one class per code.
 *
 * Handlers leave `request_id` out; the server adds it to every answer, and `detail` where they leave it out: the
 * sentences of the code. They leave it out wherever the body must be the same for several causes: `not_found` for
 * foreign, deleted, malformed and unknown ids, `invalid_token` for every credential that is not valid.
 *
 * A class is made by its first use (docs/design/client.md L29): all of them together have a thousand schemas.
 */
import { Option, Predicate, Schema } from "effect"
import { HttpApiError } from "effect/http-api"
import { madeByFirstUse } from "./madeByFirstUse.ts"
import { isProblemCode, type ProblemCode, problemCatalog } from "./problemCatalog.ts"

const declare = <const Code extends ProblemCode>(code: Code) => ({
  type: `urn:narthex:problem:${code}` as const,
  status: problemCatalog[code].status,
  title: problemCatalog[code].title
})

const members = <const Code extends ProblemCode>(code: Code) => ({
  code: Schema.tag(code),
  request_id: Schema.optionalKey(Schema.String)
})

/** The class of a code. `fields` are what its body has in addition. */
const Problem =
  <Self>() =>
  <
    const Tag extends string,
    const Code extends ProblemCode,
    Fields extends HttpApiError.ProblemExtensionFields = Record<never, never>
  >(
    tag: Tag,
    code: Code,
    fields?: Fields
  ): HttpApiError.ProblemClass<
    Self,
    Tag,
    `urn:narthex:problem:${Code}`,
    (typeof problemCatalog)[Code]["status"],
    { readonly code: Schema.tag<Code>; readonly request_id: Schema.optionalKey<Schema.String> } & Fields,
    unknown
  > =>
    madeByFirstUse(
      // The type of the result depends on `Self`, which is not known here.
      () => HttpApiError.Problem<Self>()(tag, declare(code), { ...members(code), ...fields }) as never
    )

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
const issues = { errors: Schema.optionalKey(Schema.Array(RequestIssue)) }

export class MalformedRequestProblem extends Problem<MalformedRequestProblem>()(
  "MalformedRequestProblem",
  "malformed_request"
) {}

export class UnauthenticatedProblem extends Problem<UnauthenticatedProblem>()(
  "UnauthenticatedProblem",
  "unauthenticated"
) {}

export class InvalidTokenProblem extends Problem<InvalidTokenProblem>()("InvalidTokenProblem", "invalid_token") {}

export class InvalidCodeProblem extends Problem<InvalidCodeProblem>()("InvalidCodeProblem", "invalid_code") {}

export class TokenExpiredProblem extends Problem<TokenExpiredProblem>()("TokenExpiredProblem", "token_expired") {}

export class SignInRequiredProblem extends Problem<SignInRequiredProblem>()(
  "SignInRequiredProblem",
  "sign_in_required"
) {}

export class AlphaPendingProblem extends Problem<AlphaPendingProblem>()(
  "AlphaPendingProblem",
  "alpha_pending",
  rights
) {}

export class EmailNotAllowedProblem extends Problem<EmailNotAllowedProblem>()(
  "EmailNotAllowedProblem",
  "email_not_allowed"
) {}

export class ScopeInsufficientProblem extends Problem<ScopeInsufficientProblem>()(
  "ScopeInsufficientProblem",
  "scope_insufficient",
  rights
) {}

export class CapabilityInsufficientProblem extends Problem<CapabilityInsufficientProblem>()(
  "CapabilityInsufficientProblem",
  "capability_insufficient",
  rights
) {}

export class RoleInsufficientProblem extends Problem<RoleInsufficientProblem>()(
  "RoleInsufficientProblem",
  "role_insufficient",
  rights
) {}

export class SessionRequiredProblem extends Problem<SessionRequiredProblem>()(
  "SessionRequiredProblem",
  "session_required",
  rights
) {}

export class KeySelfOnlyProblem extends Problem<KeySelfOnlyProblem>()("KeySelfOnlyProblem", "key_self_only", rights) {}

export class NotAMemberProblem extends Problem<NotAMemberProblem>()("NotAMemberProblem", "not_a_member", rights) {}

export class AddressNotListedProblem extends Problem<AddressNotListedProblem>()(
  "AddressNotListedProblem",
  "address_not_listed"
) {}

export class NotFoundProblem extends Problem<NotFoundProblem>()("NotFoundProblem", "not_found") {}

export class MethodNotAllowedProblem extends Problem<MethodNotAllowedProblem>()(
  "MethodNotAllowedProblem",
  "method_not_allowed"
) {}

export class NotAcceptableProblem extends Problem<NotAcceptableProblem>()("NotAcceptableProblem", "not_acceptable") {}

export class ConflictProblem extends Problem<ConflictProblem>()("ConflictProblem", "conflict") {}

export class IdempotencyConflictProblem extends Problem<IdempotencyConflictProblem>()(
  "IdempotencyConflictProblem",
  "idempotency_conflict"
) {}

export class IdempotencyInProgressProblem extends Problem<IdempotencyInProgressProblem>()(
  "IdempotencyInProgressProblem",
  "idempotency_in_progress",
  retry
) {}

export class BodyTooLargeProblem extends Problem<BodyTooLargeProblem>()("BodyTooLargeProblem", "body_too_large") {}

export class UnsupportedMediaTypeProblem extends Problem<UnsupportedMediaTypeProblem>()(
  "UnsupportedMediaTypeProblem",
  "unsupported_media_type"
) {}

export class InvalidRequestProblem extends Problem<InvalidRequestProblem>()(
  "InvalidRequestProblem",
  "invalid_request",
  issues
) {}

export class RegionRequiredProblem extends Problem<RegionRequiredProblem>()(
  "RegionRequiredProblem",
  "region_required"
) {}

export class RegionUnknownProblem extends Problem<RegionUnknownProblem>()("RegionUnknownProblem", "region_unknown") {}

export class RegionImmutableProblem extends Problem<RegionImmutableProblem>()(
  "RegionImmutableProblem",
  "region_immutable"
) {}

export class MalformedCidrProblem extends Problem<MalformedCidrProblem>()(
  "MalformedCidrProblem",
  "malformed_cidr",
  issues
) {}

/** `quota` names the quota: `held` is what the organization has of it, `allowed` how much it may have. */
export class QuotaExceededProblem extends Problem<QuotaExceededProblem>()("QuotaExceededProblem", "quota_exceeded", {
  quota: Schema.optionalKey(Schema.String),
  held: Schema.optionalKey(Schema.Int),
  allowed: Schema.optionalKey(Schema.Int)
}) {}

/** `blocking_operation_id` names the operation that must finish first. */
export class ResourceBusyProblem extends Problem<ResourceBusyProblem>()("ResourceBusyProblem", "resource_busy", {
  ...retry,
  blocking_operation_id: Schema.optionalKey(Schema.NullOr(Schema.String))
}) {}

/** `limit` names the limit; `held` counts against it, and `allowed` is the most that may. */
export class RateLimitedProblem extends Problem<RateLimitedProblem>()("RateLimitedProblem", "rate_limited", {
  ...retry,
  limit: Schema.optionalKey(Schema.String),
  held: Schema.optionalKey(Schema.Int),
  allowed: Schema.optionalKey(Schema.Int)
}) {}

export class InternalProblem extends Problem<InternalProblem>()("InternalProblem", "internal") {}

export class UnavailableProblem extends Problem<UnavailableProblem>()("UnavailableProblem", "unavailable", retry) {}

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
