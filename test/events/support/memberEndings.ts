/** Ways to end a person's rights in an organization, by session and by key: removal, demotion, disabling. */
import { OperatorAccounts, UserId } from "@narthex/core"
import { Effect } from "effect"
import { type Ending, enterTeam, type Mark, makeKey, type Team, toBoth } from "./rights.ts"

interface Way {
  readonly name: string
  readonly end: (team: Team, user: string) => Ending["end"]
  readonly marks: (
    team: Team,
    user: string,
    key: string
  ) => { readonly session: Mark; readonly key: ReadonlyArray<Mark> }
  readonly afterwards: { readonly session: number; readonly key: number }
}

const member = (team: Team, user: string) => `/v1/orgs/${team.id}/members/${user}`

const removed: Way = {
  name: "removed member",
  end: (team, user) => team.anywhere.api("DELETE", member(team, user), { token: team.token }),
  marks: (team, user_id, api_key_id) => {
    const session = { org_id: team.id, user_id }
    return { session, key: [{ api_key_id }, session] }
  },
  afterwards: { session: 403, key: 403 }
}

/** Every role may read the stream, so after a demotion the holder may reconnect with the new role. */
const demoted: Way = {
  name: "demoted member",
  end: (team, user) => team.anywhere.api("PATCH", member(team, user), { token: team.token, body: { role: "viewer" } }),
  marks: (team, user_id) => {
    const session = { org_id: team.id, user_id }
    return { session, key: [session] }
  },
  afterwards: { session: 200, key: 200 }
}

/** The revocation of an account is logged for any one of its organizations, rarely for the one that is followed. */
const disabled: Way = {
  name: "disabled account",
  end: (_, user) => OperatorAccounts.use(({ disable }) => disable(UserId.make(user))),
  marks: (_, user_id) => ({ session: { user_id }, key: [{ user_id }] }),
  afterwards: { session: 401, key: 401 }
}

/** A new person joins as an admin and follows streams, by session and by key. */
const ending = (team: Team, way: Way, email: string): Effect.Effect<Ending> =>
  Effect.gen(function* () {
    const invitation = { token: team.token, body: { email, role: "admin" } }
    yield* team.anywhere.api("POST", `/v1/orgs/${team.id}/invitations`, invitation)
    const { token, user } = yield* enterTeam(team, email)
    const key = yield* makeKey(team, token)
    const marks = way.marks(team, user, key.id)
    const [session, made] = [`${way.name}'s session`, `${way.name}'s key`]
    return {
      rights: [
        ...toBoth(team, { way: session, token, marks: [marks.session], afterwards: way.afterwards.session }),
        ...toBoth(team, { way: made, token: key.secret, marks: marks.key, afterwards: way.afterwards.key })
      ],
      end: way.end(team, user)
    }
  })

/** `name` must make an unused address. */
export const memberEndings = (team: Team, name: string): ReadonlyArray<Effect.Effect<Ending>> =>
  [removed, demoted, disabled].map((way, at) => ending(team, way, `${name}-${at}@example.com`))
