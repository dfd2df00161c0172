/**
 * Every problem that the API answers with, one row per code. The classes of `Problems.ts` and `docs/problems.md` are
 * made from it.
 *
 * `title` says what happened and is the same for every request; `next` says what the caller does next. Both together
 * are the `detail` of a problem for which nothing more is known, or may be said. Codes are stable: clients compare
 * them, so a new meaning gets a new code.
 */

interface CatalogEntry {
  readonly status: number
  readonly title: string
  readonly next: string
}

export const problemCatalog = {
  malformed_request: {
    status: 400,
    title: "The request is malformed.",
    next: "Send one Authorization header, a body that parses as JSON, and cursors exactly as the API issued them."
  },
  unauthenticated: {
    status: 401,
    title: "No credential was sent.",
    next: "Send Authorization: Bearer with an API key or a session token."
  },
  invalid_token: {
    status: 401,
    title: "The credential is not valid.",
    next: "Sign in again, or use another API key."
  },
  invalid_code: {
    status: 401,
    title: "The code is not valid.",
    next: "Start the command line login again; a code works once, for 60 seconds."
  },
  token_expired: {
    status: 401,
    title: "The session token has expired.",
    next: "Refresh it with POST /v1/auth/refresh, then send the request again."
  },
  sign_in_required: {
    status: 401,
    title: "The session has ended.",
    next: "Sign in again."
  },
  alpha_pending: {
    status: 403,
    title: "The account is not enabled yet.",
    next: "Wait until the operator enables the account; the same credential works then."
  },
  email_not_allowed: {
    status: 403,
    title: "This email address may not sign in here.",
    next: "Ask the operator to add the address to the sign-in allowlist."
  },
  scope_insufficient: {
    status: 403,
    title: "The scope of the API key does not include this resource.",
    next: "Use a key whose scope includes the resource."
  },
  capability_insufficient: {
    status: 403,
    title: "The capability of the API key does not allow this call.",
    next: "Use a key with the capability that required names."
  },
  role_insufficient: {
    status: 403,
    title: "Your role in the organization does not allow this call.",
    next: "Ask an owner or admin of the organization."
  },
  session_required: {
    status: 403,
    title: "This call needs a session; API keys are refused.",
    next: "Do it in the console, or send a session token."
  },
  key_self_only: {
    status: 403,
    title: "An API key can revoke only itself.",
    next: "Revoke other keys in the console, or with a session token."
  },
  not_a_member: {
    status: 403,
    title: "You are not a member of the organization.",
    next: "Switch to an organization that you belong to, or ask for an invitation."
  },
  address_not_listed: {
    status: 403,
    title: "The client's address is not on the project's IP allowlist.",
    next: "Close the client's connection; a member of the project's organization can add the address to the allowlist."
  },
  not_found: {
    status: 404,
    title: "Not found.",
    next: "Check the path, the id and the organization that the credential belongs to; list the resource to see valid ids."
  },
  method_not_allowed: {
    status: 405,
    title: "The path does not support this method.",
    next: "Use a method from the Allow header."
  },
  not_acceptable: {
    status: 406,
    title: "The answer is an event stream, which the Accept header excludes.",
    next: "Send Accept: text/event-stream."
  },
  conflict: {
    status: 409,
    title: "The request conflicts with the current state.",
    next: "Read detail, then change the state or the request."
  },
  idempotency_conflict: {
    status: 409,
    title: "The idempotency key was used for a different request.",
    next: "Use a new Idempotency-Key for each different request. Repeat the same bytes: the same JSON with other spaces or order is different."
  },
  idempotency_in_progress: {
    status: 409,
    title: "The first request with this idempotency key is still running.",
    next: "Send the same request again after the time in Retry-After."
  },
  body_too_large: {
    status: 413,
    title: "The body is too large.",
    next: "Send at most 64 KiB."
  },
  unsupported_media_type: {
    status: 415,
    title: "The body is not JSON.",
    next: "Send JSON with Content-Type: application/json."
  },
  invalid_request: {
    status: 422,
    title: "The request body or parameters are invalid.",
    next: "Correct the members that errors lists."
  },
  region_required: {
    status: 422,
    title: "The project needs a region.",
    next: "Send region with one of the ids from GET /v1/regions."
  },
  region_unknown: {
    status: 422,
    title: "There is no active region with this id.",
    next: "Send region with one of the ids from GET /v1/regions."
  },
  region_immutable: {
    status: 422,
    title: "The region of a project cannot be changed.",
    next: "Leave region out, or create a project in the other region."
  },
  malformed_cidr: {
    status: 422,
    title: "The CIDR is malformed.",
    next: "Send the network in the form that detail suggests."
  },
  quota_exceeded: {
    status: 422,
    title: "A quota of the organization does not allow it.",
    next: "Remove something that the quota counts, or ask the operator for a higher quota; GET /v1/orgs/{org_id}/usage shows all of them."
  },
  resource_busy: {
    status: 423,
    title: "Another operation is running on this branch.",
    next: "Retry after the time in Retry-After; a retry is safe."
  },
  rate_limited: {
    status: 429,
    title: "Too many requests.",
    next: "Retry after the time in Retry-After."
  },
  internal: {
    status: 500,
    title: "The server failed.",
    next: "Report request_id to the operator."
  },
  unavailable: {
    status: 503,
    title: "The service is unavailable.",
    next: "Retry after the time in Retry-After."
  }
} as const satisfies Record<string, CatalogEntry>

export type ProblemCode = keyof typeof problemCatalog

/** Whether this version knows the code. A server may be newer than its client. */
export const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(problemCatalog, code)
