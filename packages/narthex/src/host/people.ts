/** The host's people and their sessions (docs/design/identity.md I50–I54). */
import { SessionAnswer, type SessionJson } from "@narthex/api"
import {
  AccessPolicy,
  accountState,
  type Device,
  type IssuedSession,
  People as PeopleService,
  personalOrgId,
  requestedId,
  Sessions as SessionsService,
  type User,
  UserId
} from "@narthex/core"
import type { HostSession } from "@narthex/http/web"
import { Effect, Predicate, Redacted, Schema } from "effect"
import { expecting, flag, type Members, objectOf, optional, orNull, someText, text } from "../failures/forms.ts"
import { placing } from "../failures/placing.ts"
import { idIn, requireForm } from "./inputs.ts"
import type { Run } from "./Run.ts"

/** A person whom the host has authenticated. */
export interface Identity {
  /** The host's own id of the person: 1 to 255 characters that never change. */
  readonly subject: string
  readonly email?: string | null
  /** Whether the host knows that the address is the person's. Only then does it match invitations. Default: `false`. */
  readonly email_verified?: boolean
  readonly name?: string | null
}

export interface Person {
  readonly id: string
  readonly email: string | null
  readonly name: string | null
  /** The organization that belongs to this person alone. */
  readonly personal_org_id: string
  /** `pending`: sign-up is closed, and the operator has not enabled the account yet. */
  readonly account_state: string
}

/** Where a session begins, for the person's own list of sessions. */
export interface From {
  readonly user_agent?: string | null
  readonly address?: string | null
}

export interface StartOptions extends From {
  /**
   * Your id of a session of your own, at least one character; only its digest is stored. The first start with it makes
   * a session, later ones answer a new token of the same one. After its end the id begins no other.
   */
  readonly host_session?: string | null
}

/** An id token, as the body of the API's exchange has it. */
export interface IdToken {
  readonly id_token: string
  /** The id of the provider in `identity`; left out: the one whose issuer and client id the token names. */
  readonly provider?: string | null
  /** The `nonce` that the sign-in sent; left out: not compared. */
  readonly nonce?: string | null
}

/**
 * People whom the host has authenticated.
 *
 * @example
 * import { createControlPlane } from "narthex"
 * await using cp = await createControlPlane()
 * const ada = await cp.people.ensure({ subject: "user_42", email: "ada@example.com", email_verified: true })
 * console.log(ada.personal_org_id)
 */
export interface People {
  /**
   * The person's account; the first call makes it, with a personal organization. Address and name are brought up to
   * date. Rejects with `email_not_allowed`, `account_disabled`, `invalid_request`.
   */
  readonly ensure: (identity: Identity) => Promise<Person>
}

/**
 * Sessions of the API, begun by the host or with an id token.
 *
 * @example
 * import { createControlPlane } from "narthex"
 * await using cp = await createControlPlane()
 * const session = await cp.sessions.start(await cp.people.ensure({ subject: "user_42" }))
 * const { user } = await cp.client(session).auth.whoami()
 */
export interface Sessions {
  /**
   * Signs the person in, without an id token. Resolves to the answer of the API's exchange: the browser's session, and
   * the credential of `client`. Rejects with `not_found`, `account_disabled`, `email_not_allowed`; and with
   * `sign_in_required` for the id of a session of the host's own that has ended.
   */
  readonly start: (person: string | Pick<Person, "id">, options?: StartOptions) => Promise<SessionJson>
  /**
   * Ends a session, with its streams: by its token, also an expired one, or by the host's own session that it belongs
   * to. Resolves where it has ended already. Rejects with `not_found`, `invalid_token`.
   */
  readonly end: (session: string | Pick<SessionJson, "access_token"> | HostSession) => Promise<void>
  /** Signs in with an id token of a provider of `identity`. Rejects with `invalid_token`, `email_not_allowed`. */
  readonly exchange: (token: IdToken, from?: From) => Promise<SessionJson>
}

const aSession = expecting(
  "a session token, a session, or { person, id } of your own session",
  (it) => Predicate.isString(it) || (Predicate.hasProperty(it, "access_token") && Predicate.isString(it.access_token))
)

const textOrNone = optional(orNull(text))
const identityForm = objectOf<Identity>({
  subject: text,
  email: textOrNone,
  email_verified: optional(flag),
  name: textOrNone
})
const fromMembers: Members<From> = { user_agent: textOrNone, address: textOrNone }
const fromForm = objectOf(fromMembers)
const startForm = objectOf<StartOptions>({ ...fromMembers, host_session: optional(orNull(someText)) })
const hostSessionForm = objectOf<HostSession>({ person: text, id: someText })
const tokenForm = objectOf<IdToken>({ id_token: text, provider: textOrNone, nonce: textOrNone })

const deviceOf = ({ address = null, user_agent = null }: From): Device => ({ address, user_agent })

const isHostSession = (session: Parameters<Sessions["end"]>[0]): session is HostSession =>
  typeof session === "object" && session !== null && "person" in session

const encodeSession = Schema.encodeEffect(SessionAnswer)
const answer = (session: IssuedSession) => encodeSession({ ...session, token_type: "Bearer" })

const personOf = (user: User) =>
  Effect.map(
    AccessPolicy,
    (settings): Person => ({
      id: user.id,
      email: user.email,
      name: user.name,
      personal_org_id: personalOrgId(user.id),
      account_state: accountState(settings, user)
    })
  )

export const makePeople = (run: Run): People => ({
  ensure: placing("people.ensure", async (identity) => {
    requireForm("identity", identity, identityForm)
    const { email = null, email_verified = false, name = null, subject } = identity
    return run(
      Effect.flatMap(
        PeopleService.use((people) => people.ensure({ subject, email, email_verified, name })),
        personOf
      )
    )
  })
})

export const makeSessions = (run: Run): Sessions => ({
  start: placing("sessions.start", async (person, options = {}) => {
    const id = requestedId(UserId, idIn("person", person))
    requireForm("options", options, startForm)
    return run(
      Effect.flatMap(
        SessionsService.use((sessions) => sessions.start(id, deviceOf(options), options.host_session)),
        answer
      )
    )
  }),
  end: placing("sessions.end", async (session) => {
    if (isHostSession(session)) {
      requireForm("session", session, hostSessionForm)
      const { id, person } = session
      return run(SessionsService.use(({ endOwn }) => endOwn(requestedId(UserId, person), id)))
    }
    requireForm("session", session, aSession)
    const token = Redacted.make(typeof session === "string" ? session : session.access_token, { label: "credential" })
    const ended = SessionsService.use(({ logout }) => logout(token))
    return run(Effect.catchTag(ended, "SignInRequired", () => Effect.void))
  }),
  exchange: placing("sessions.exchange", async (given, from = {}) => {
    requireForm("from", from, fromForm)
    requireForm("token", given, tokenForm)
    const { id_token, nonce = null, provider = null } = given
    const [token, device] = [
      { id_token: Redacted.make(id_token, { label: "id token" }), nonce, provider },
      deviceOf(from)
    ]
    return run(
      Effect.flatMap(
        SessionsService.use((sessions) => sessions.exchange(token, device)),
        answer
      )
    )
  })
})
