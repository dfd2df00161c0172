/** Ways to end a key, or the project or organization that a key or session may read. */
import { Effect } from "effect"
import { type Ending, enterTeam, type Key, makeKey, sessionOf, type Team, toBoth } from "./rights.ts"

/** A key of the owner, and one call that ends it. */
const keyEnding = (
  team: Team,
  way: string,
  afterwards: number,
  end: (key: Key) => Ending["end"]
): Effect.Effect<Ending> =>
  Effect.map(makeKey(team, team.token), (key) => ({
    rights: toBoth(team, { way, token: key.secret, marks: [{ api_key_id: key.id }], afterwards }),
    end: end(key)
  }))

export const keyEndings = (team: Team): ReadonlyArray<Effect.Effect<Ending>> => {
  const { api } = team.anywhere
  const { token } = team
  const rotate = (grace_seconds: number) => (key: Key) =>
    api("POST", `/v1/api-keys/${key.id}/rotate`, { token, body: { grace_seconds } })
  return [
    keyEnding(team, "revoked key", 401, ({ id }) => api("DELETE", `/v1/api-keys/${id}`, { token })),
    keyEnding(team, "key that revoked itself", 401, ({ secret }) =>
      api("DELETE", "/v1/api-keys/self", { token: secret })
    ),
    keyEnding(team, "key reported as leaked", 401, ({ secret }) =>
      api("POST", "/v1/credentials/report", { body: { secret } })
    ),
    keyEnding(team, "key rotated at once", 401, rotate(0)),
    // The old secret may reconnect until its grace ends.
    keyEnding(team, "key rotated with grace", 200, rotate(600))
  ]
}

export const sessionEndings = (team: Team): ReadonlyArray<Effect.Effect<Ending>> => {
  const { api } = team.anywhere
  const sessionEnding = (way: string, end: (token: string, session: string) => Ending["end"]) =>
    Effect.map(enterTeam(team, team.boss), ({ token }) => {
      const session_id = sessionOf(token)
      const rights = toBoth(team, { way, token, marks: [{ session_id }], afterwards: 401 })
      return { rights, end: end(token, session_id) }
    })
  return [
    sessionEnding("session that signed out", (token) => api("POST", "/v1/auth/logout", { token })),
    sessionEnding("session ended from another", (_, session) =>
      api("DELETE", `/v1/auth/sessions/${session}`, { token: team.token })
    )
  ]
}

/**
 * The project's stream, followed by a session and by a key with its scope. Its end also ends the other streams of the
 * project.
 */
export const projectEnding = (team: Team): Effect.Effect<Ending> =>
  Effect.gen(function* () {
    const { project, token } = team
    const key = yield* makeKey(team, token, { type: "project", project_id: project })
    const deleted = { project_id: project }
    const narrowed = [{ api_key_id: key.id }, deleted]
    return {
      rights: [
        { way: "session, project deleted", token, project, marks: [deleted], afterwards: 404 },
        { way: "key of a deleted project", token: key.secret, project, marks: narrowed, afterwards: 401 }
      ],
      end: team.anywhere.api("DELETE", `/v1/projects/${project}`, { token })
    }
  })

/** Must come last: it needs an organization without projects, and ends the rights of all members who are left. */
export const organizationEnding = (team: Team): Effect.Effect<Ending> =>
  Effect.gen(function* () {
    const { id, token } = team
    const key = yield* makeKey(team, token)
    const deleted = { org_id: id }
    const ended = [{ api_key_id: key.id }, deleted]
    return {
      rights: [
        { way: "session, organization deleted", token, project: null, marks: [deleted], afterwards: 403 },
        { way: "key of a deleted organization", token: key.secret, project: null, marks: ended, afterwards: 401 }
      ],
      end: team.anywhere.api("DELETE", `/v1/orgs/${id}`, { token })
    }
  })
