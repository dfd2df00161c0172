/**
 * What a person at a terminal does about each problem code. Codes without a line here say enough by themselves.
 */
import type { ProblemCode } from "@narthex/api"

const login = "narthex login"

const hints: Partial<Record<ProblemCode, string>> = {
  unauthenticated: login,
  invalid_token: `${login}, or another key in NARTHEX_API_KEY`,
  invalid_code: `${login} once more; a code lives for a minute and works once`,
  token_expired: `${login}; a session's token in NARTHEX_API_KEY lasts 15 minutes`,
  sign_in_required: login,
  alpha_pending: "the operator has to enable the account; nothing else is needed then",
  email_not_allowed: "ask the operator to list the address",
  scope_insufficient: "narthex whoami shows what the key reaches",
  capability_insufficient: "narthex whoami shows what the key may do; the console makes another",
  role_insufficient: "ask an owner or admin of the organization",
  session_required: "this needs a signed-in person: do it in the console",
  key_self_only: "a key can revoke only itself: revoke other keys in the console",
  not_a_member: "narthex context list shows the other contexts",
  not_found: "check the id, and narthex whoami for the organization that the key belongs to",
  idempotency_in_progress: "wait a moment, then run the command again",
  region_required: "narthex region list, then --region <region_id>",
  region_unknown: "narthex region list shows the regions",
  region_immutable: "create a project in the other region",
  malformed_cidr: "write a network such as 10.0.0.0/8 or 2001:db8::/32",
  resource_busy: "wait for the running operation, then run the command again",
  rate_limited: "wait a moment, then run the command again",
  internal: "report the request id to the operator",
  unavailable: "run the command again in a moment"
}

/** `undefined` for codes of a newer server, too. */
export const hintOf = (code: string): string | undefined =>
  Object.hasOwn(hints, code) ? hints[code as keyof typeof hints] : undefined
