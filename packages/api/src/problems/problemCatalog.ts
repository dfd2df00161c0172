/**
 * Every problem that the API answers with: one row a code, from which the classes and the documentation are made.
 *
 * `title` says what happened and never changes with the request; `next` says what the caller does about it. A code is
 * forever: clients compare it, so a new meaning gets a new row.
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
    next: "Send one Authorization header, JSON that parses, and cursors as they were given out."
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
    next: "Start the login of the command line again."
  },
  token_expired: {
    status: 401,
    title: "The session token has expired.",
    next: "Refresh it with POST /v1/auth/refresh."
  },
  sign_in_required: {
    status: 401,
    title: "The session has ended.",
    next: "Sign in again."
  },
  alpha_pending: {
    status: 403,
    title: "The account is not enabled yet.",
    next: "Wait until the operator enables it; no new sign-in is needed then."
  },
  email_not_allowed: {
    status: 403,
    title: "This address may not sign in here.",
    next: "Ask the operator to add it to the sign-in allowlist."
  },
  scope_insufficient: {
    status: 403,
    title: "The key's scope does not reach this.",
    next: "Use a key whose scope holds the resource."
  },
  capability_insufficient: {
    status: 403,
    title: "The key's capability does not allow this.",
    next: "Use a key with the capability named in required."
  },
  role_insufficient: {
    status: 403,
    title: "The role does not allow this.",
    next: "Ask an owner or admin of the organization."
  },
  session_required: {
    status: 403,
    title: "Only a signed-in person may do this.",
    next: "Do it in the console, or with a session token."
  },
  key_self_only: {
    status: 403,
    title: "A key can revoke only itself.",
    next: "Revoke other keys in the console."
  },
  not_a_member: {
    status: 403,
    title: "The caller is not a member of the organization.",
    next: "Switch to an organization that you belong to."
  },
  address_not_listed: {
    status: 403,
    title: "The client's address is not on the allowlist.",
    next: "Refuse the connection; the project's owners can list the address."
  },
  not_found: {
    status: 404,
    title: "Not found.",
    next: "Check the id and the organization; lists show what is there."
  },
  method_not_allowed: {
    status: 405,
    title: "The path does not answer this method.",
    next: "Use a method that the Allow header names."
  },
  not_acceptable: {
    status: 406,
    title: "The answer is an event stream.",
    next: "Accept text/event-stream."
  },
  conflict: {
    status: 409,
    title: "The request conflicts with the present state.",
    next: "Read detail, change the state or the request."
  },
  idempotency_conflict: {
    status: 409,
    title: "The idempotency key was used for another request.",
    next: "Use a fresh Idempotency-Key for each request that differs."
  },
  idempotency_in_progress: {
    status: 409,
    title: "The first request with this idempotency key is still running.",
    next: "Send the same request again after a moment."
  },
  body_too_large: {
    status: 413,
    title: "The body is too large.",
    next: "Send at most 64 KiB."
  },
  unsupported_media_type: {
    status: 415,
    title: "The body is not JSON.",
    next: "Send application/json."
  },
  invalid_request: {
    status: 422,
    title: "The request is not acceptable.",
    next: "Correct the members that errors names."
  },
  region_required: {
    status: 422,
    title: "A region must be named.",
    next: "Name one of GET /v1/regions."
  },
  region_unknown: {
    status: 422,
    title: "There is no such active region.",
    next: "Name one of GET /v1/regions."
  },
  region_immutable: {
    status: 422,
    title: "The region of a project cannot be changed.",
    next: "Create a project in the other region."
  },
  malformed_cidr: {
    status: 422,
    title: "The CIDR is malformed.",
    next: "Write the network as detail suggests."
  },
  resource_busy: {
    status: 423,
    title: "Another operation runs on this branch.",
    next: "Retry after the time in Retry-After; retrying is safe."
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

/** Is this a code that this version knows? Servers may be newer than their clients. */
export const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(problemCatalog, code)
