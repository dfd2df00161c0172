/** Serves `AuthApi` from the core: sign-in, sessions, whoami. */
import { Api, PresentedToken } from "@narthex/api"
import {
  type AnyCaller,
  effectivePermissions,
  IdentityProvider,
  type IssuedSession,
  NotFound,
  Overviews,
  Principal,
  Roles,
  Sessions,
  TokenSigner,
  UserProfile
} from "@narthex/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { requestOrigin, ServerIdentity } from "../ServerIdentity.ts"
import { problems } from "../toProblem.ts"

const answer = (session: IssuedSession) => ({ ...session, token_type: "Bearer" as const })

const profileOf = ({ user: { email, id, name } }: AnyCaller) => new UserProfile({ id, email, name })

const whoami = Effect.gen(function* () {
  const caller = yield* Principal
  const { account_state, expires_at, invited_by, kind, organization } = caller
  const key = caller.kind === "api_key" ? caller : undefined
  return {
    kind,
    user: profileOf(caller),
    organization,
    invited_by,
    account_state,
    capability: key?.capability ?? null,
    scope: key?.scope ?? null,
    api_key: key === undefined ? null : { id: key.api_key_id, name: key.api_key_name, expires_at: key.expires_at },
    expires_at,
    permissions: effectivePermissions(caller, yield* Roles)
  }
})

export const AuthHandlers = HttpApiBuilder.group(
  Api,
  "auth",
  Effect.fn(function* (handlers) {
    const overviews = yield* Overviews
    const provider = yield* IdentityProvider
    const sessions = yield* Sessions
    const signer = yield* TokenSigner
    return handlers.handleAll({
      providers: () =>
        Effect.map(ServerIdentity, ({ console_url }) => ({ providers: provider.providers, console_url })),
      exchange: Effect.fnUntraced(function* ({ payload: { id_token, nonce = null, provider: wanted = null } }) {
        const device = yield* requestOrigin
        return answer(yield* problems(sessions.exchange({ id_token, nonce, provider: wanted }, device)))
      }),
      refresh: () => Effect.flatMap(PresentedToken, (token) => Effect.map(problems(sessions.refresh(token)), answer)),
      logout: () => Effect.flatMap(PresentedToken, (token) => problems(sessions.logout(token))),
      switchOrg: Effect.fnUntraced(function* ({ payload }) {
        return answer(yield* problems(sessions.switchOrg(yield* Principal.session, payload.org_id)))
      }),
      whoami: () => whoami,
      account: Effect.fnUntraced(function* ({ query: { include = [] } }) {
        const caller = yield* Principal.session
        const wanted = { projects: include.includes("projects") }
        const { projects, ...overview } = yield* problems(overviews.ofPerson(caller, wanted))
        return {
          user: profileOf(caller),
          organization: caller.organization,
          invited_by: caller.invited_by,
          permissions: effectivePermissions(caller, yield* Roles),
          ...overview,
          ...(wanted.projects ? { projects } : {})
        }
      }),
      sessions: Effect.fnUntraced(function* () {
        const { session_id, user } = yield* Principal.session
        const list = yield* problems(sessions.list(user.id))
        return {
          sessions: list.map((session) => ({
            id: session.id,
            current: session.id === session_id,
            provider: session.provider,
            signed_in_at: session.signed_in_at,
            last_refreshed_at: session.refreshed_at,
            user_agent: session.user_agent,
            address: session.address
          }))
        }
      }),
      endSession: ({ params }) =>
        Effect.flatMap(Principal.session, ({ user }) => problems(sessions.end(user.id, params.session_id))),
      clientAddress: Effect.fnUntraced(function* () {
        const { address } = yield* requestOrigin
        return address === null ? yield* problems(new NotFound({})) : { address }
      }),
      jwks: () => problems(signer.keys)
    })
  })
)
