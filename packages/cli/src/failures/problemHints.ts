/** The hint for each problem code: what a user at a terminal can do. Codes without a hint need none. */
import type { ProblemCode } from "@narthex/api"

const login = "narthex login"

const hints: Partial<Record<ProblemCode, string>> = {
  unauthenticated: login,
  invalid_token: `${login}, or set NARTHEX_API_KEY to another key`,
  invalid_code: `${login} again; a code is valid for one minute and for one use`,
  token_expired: `${login}; a session token in NARTHEX_API_KEY expires after 15 minutes`,
  sign_in_required: login,
  alpha_pending: "the operator must enable the account; no other step is needed",
  email_not_allowed: "ask the operator to allow the address",
  scope_insufficient: "narthex whoami shows the scope of the key",
  capability_insufficient: "narthex whoami shows the capability of the key; create another key in the console",
  role_insufficient: "ask an owner or admin of the organization",
  session_required: "an API key cannot do this; sign in to the console",
  key_self_only: "a key can revoke only itself; revoke other keys in the console",
  not_a_member: "use another context; narthex context list shows them",
  not_found: "check the id; narthex whoami shows the organization and the scope of the key",
  idempotency_in_progress: "the first request is still running; run the command again in a moment",
  region_required: "narthex region list, then --region <region_id>",
  region_unknown: "narthex region list shows the regions",
  region_immutable: "create a new project in the other region",
  malformed_cidr: "use a network such as 10.0.0.0/8 or 2001:db8::/32",
  resource_busy: "run the command again when the running operation has finished",
  quota_exceeded: "narthex org usage shows every quota of the organization",
  rate_limited: "run the command again in a moment",
  internal: "report the request id to the operator",
  unavailable: "run the command again in a moment"
}

/** Returns `undefined` for a code without a hint, and for an unknown code of a newer server. */
export const hintOf = (code: string): string | undefined =>
  Object.hasOwn(hints, code) ? hints[code as keyof typeof hints] : undefined
