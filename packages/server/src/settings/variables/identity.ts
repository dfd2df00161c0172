/** Variables of identity: the providers, who may sign in, sessions. */
import { AccessPolicy, SessionPolicy } from "@narthex/core"
import * as forms from "../forms.ts"
import { optional, secret, variable } from "../Variable.ts"

const access = AccessPolicy.defaultValue()
const sessions = SessionPolicy.defaultValue()

export const identity = {
  providers: secret(
    "NARTHEX_PROVIDERS",
    forms.providers,
    "none (`npm start`: the development providers)",
    'OpenID Connect providers, as JSON: [{"id","name","issuer","client_ids":[…],"client_secret"?,"algorithms"?,"email_trust"?: "email_verified"|"never","response_mode"?: "query"|"form_post"}]. Apple needs form_post. Issuers are https; http on loopback only.'
  ),
  dev_providers: {
    mode: optional(
      "NARTHEX_DEV_PROVIDERS",
      forms.words("true", "false", "insecure"),
      "`npm start` in development, without NARTHEX_PROVIDERS: true; otherwise: false",
      "Two identity providers for development, always on loopback. They sign anyone in. `true` is refused if a listener, NARTHEX_API_URL or NARTHEX_CONSOLE_URL is beyond loopback, or with trusted hops; `insecure` allows that. Never with NODE_ENV=production."
    ),
    ports: variable(
      "NARTHEX_DEV_PROVIDER_PORTS",
      forms.pair("ports", forms.port),
      [4402, 4403],
      "The ports of the development providers."
    )
  },
  access: {
    open_signup: variable(
      "NARTHEX_OPEN_SIGNUP",
      forms.flag,
      access.open_signup,
      "`false`: a new account is pending until an operator enables it."
    ),
    sign_in_allowlist: variable(
      "NARTHEX_SIGN_IN_ALLOWLIST",
      forms.list("user@dom and @dom", forms.allowlistEntry),
      access.sign_in_allowlist,
      "Addresses (user@dom) and domains (@dom) that may sign in. Others are refused with email_not_allowed."
    ),
    invitations_bypass_gate: variable(
      "NARTHEX_INVITATIONS_BYPASS_GATE",
      forms.flag,
      access.invitations_bypass_gate,
      "`true`: accepting an invitation, at the first sign-in or later, enables the account."
    )
  },
  sessions: {
    id_token_replay: variable(
      "NARTHEX_ID_TOKEN_REPLAY",
      forms.words("allow", "reject"),
      sessions.id_token_replay,
      "Whether an id token may begin more than one session: `allow` or `reject`. The id token of a revoked session is always refused."
    ),
    reuse: variable(
      "NARTHEX_SESSION_REUSE",
      forms.words("observe", "grace60", "revoke"),
      sessions.reuse,
      "What happens when a superseded session token is presented for a refresh. `observe`: it is logged and refreshed. `grace60`: the same, but the session is revoked if the token was superseded more than 60 seconds ago. `revoke`: the session is revoked."
    ),
    jwt_lifetime: variable(
      "NARTHEX_JWT_LIFETIME",
      forms.durationUpTo(sessions.jwt_lifetime),
      sessions.jwt_lifetime,
      "How long a session token is valid. It can only be shortened."
    ),
    window: variable(
      "NARTHEX_SESSION_WINDOW",
      forms.durationUpTo(sessions.window),
      sessions.window,
      "How long after sign-in a session can be refreshed. It can only be shortened."
    )
  }
}
