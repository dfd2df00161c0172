/** The host's people and their sessions (docs/design/identity.md I50–I52). */
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
import { Effect, Redacted, Schema } from "effect"
import type { Run } from "./Run.ts"

/** A person whom the host has authenticated. */
export interface Identity {
  /** The host's own id of the person: 1 to 255 characters that never change. */
  readonly subject: string
  readonly email?: string | null
  /** Does the host know that the address is the person's? Only then it matches invitations. Default: `false`. */
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

export interface People {
  /**
   * The person's account; the first call makes it, with a personal organization. Address and name are brought up to date.
   * Rejects with `email_not_allowed`, `account_disabled`, `invalid_request`.
   */
  readonly ensure: (identity: Identity) => Promise<Person>
}

export interface Sessions {
  /**
   * Signs the person in, without an id token. What it resolves to is the answer of the API's exchange: the browser's
   * session, and the credential of `client`. Rejects with `not_found`, `account_disabled`, `email_not_allowed`.
   */
  readonly start: (person: string | Pick<Person, "id">, from?: From) => Promise<SessionJson>
  /** Signs in with an id token of a provider of `identity`. Rejects with `invalid_token`, `email_not_allowed`. */
  readonly exchange: (
    token: { readonly id_token: string; readonly provider?: string; readonly nonce?: string },
    from?: From
  ) => Promise<SessionJson>
}

const deviceOf = ({ address = null, user_agent = null }: From = {}): Device => ({ address, user_agent })

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
  ensure: ({ email = null, email_verified = false, name = null, subject }) =>
    run(
      Effect.flatMap(
        PeopleService.use((people) => people.ensure({ subject, email, email_verified, name })),
        personOf
      )
    )
})

export const makeSessions = (run: Run): Sessions => ({
  start: (person, from) => {
    const id = requestedId(UserId, typeof person === "string" ? person : person.id)
    return run(
      Effect.flatMap(
        SessionsService.use((sessions) => sessions.start(id, deviceOf(from))),
        answer
      )
    )
  },
  exchange: ({ id_token, nonce = null, provider = null }, from) => {
    const token = { id_token: Redacted.make(id_token, { label: "id token" }), nonce, provider }
    return run(
      Effect.flatMap(
        SessionsService.use((sessions) => sessions.exchange(token, deviceOf(from))),
        answer
      )
    )
  }
})
