/** The ways to lose a right through the API; each can be repeated. */
import { OperatorAccounts, UserId } from "@narthex/core"
import { Effect } from "effect"
import { type Answer, ask, enter, type Ports } from "./twoServers.ts"

export interface Loss {
  readonly name: string
  /** Makes or restores the right; answers how to use it, how it goes, and what is answered afterwards. */
  readonly prepare: Effect.Effect<{
    readonly use: (port: number) => Effect.Effect<Answer>
    readonly lose: (port: number) => Effect.Effect<unknown, unknown, OperatorAccounts>
    readonly after: string
  }>
}

/** A response in a word or two. */
export const said = ({ body, status }: Answer) => (status < 300 ? "allowed" : `${status} ${body.code}`)

const done = (answer: Effect.Effect<Answer>) =>
  Effect.filterOrElse(
    answer,
    ({ status }) => status < 300,
    (it) => Effect.die(new Error(`${it.status} ${JSON.stringify(it.body)}`))
  )

/** The people, organization and keys of a lane, and every way to end one of their rights. */
export const lossesOf = (ports: Ports, lane: number) =>
  Effect.gen(function* () {
    const [port] = ports
    const read = (token: string) => (at: number) => ask(at, "GET", "/v1/projects", { token })
    const post = (path: string, token: string, body: unknown) => done(ask(port, "POST", path, { token, body }))
    const enterTeam = (email: string, team: string) =>
      Effect.gen(function* () {
        const { token, user } = yield* enter(port, email)
        const { body } = yield* post("/v1/auth/switch-org", token, { org_id: team })
        return { token: String(body.access_token), user }
      })

    const boss = yield* enter(port, `boss-${lane}@example.com`)
    const { body: made } = yield* post("/v1/orgs", boss.token, { name: "team" })
    const team = String(made.organization.id)
    const owner = yield* enterTeam(`boss-${lane}@example.com`, team)
    const invite = (email: string, role: string) => post(`/v1/orgs/${team}/invitations`, owner.token, { email, role })
    const newKey = (token: string) =>
      Effect.map(post("/v1/api-keys/", token, { name: "k" }), ({ body }) => ({
        id: String(body.api_key.id),
        secret: String(body.secret)
      }))
    const member = (user: string) => `/v1/orgs/${team}/members/${user}`

    const demoted = `demoted-${lane}@example.com`
    yield* invite(demoted, "admin")
    yield* enter(port, demoted)
    const admin = yield* enterTeam(demoted, team)
    const adminKey = yield* newKey(admin.token)
    const change = (at: number, role: string) =>
      done(ask(at, "PATCH", member(admin.user), { token: owner.token, body: { role } }))
    const demotion = (name: string, token: string): Loss => ({
      name,
      prepare: Effect.as(change(port, "admin"), {
        use: (at: number) => ask(at, "PATCH", `/v1/orgs/${team}`, { token, body: { name: "team" } }),
        lose: (at: number) => change(at, "member"),
        after: "403 role_insufficient"
      })
    })

    const removed = `removed-${lane}@example.com`
    const removal = (name: string, byKey: boolean): Loss => ({
      name,
      prepare: Effect.gen(function* () {
        yield* invite(removed, "member")
        // At the first sign-in the invitation is accepted, after a removal only by the person.
        const guest = yield* enter(port, removed)
        const { body } = yield* done(ask(port, "GET", "/v1/invitations", { token: guest.token }))
        for (const { id } of body.invitations) yield* post(`/v1/invitations/${id}/accept`, guest.token, undefined)
        const { token, user } = yield* enterTeam(removed, team)
        const used = byKey ? (yield* newKey(token)).secret : token
        return {
          use: read(used),
          lose: (at: number) => done(ask(at, "DELETE", member(user), { token: owner.token })),
          after: "403 not_a_member"
        }
      })
    })

    const person = yield* enter(port, `disabled-${lane}@example.com`)
    const personKey = yield* newKey(person.token)
    const disabling = (name: string, token: string): Loss => ({
      name,
      prepare: Effect.succeed({
        use: read(token),
        lose: () => OperatorAccounts.use(({ disable }) => disable(UserId.make(person.user))),
        after: "401 invalid_token"
      })
    })

    const revocation: Loss = {
      name: "revoked key",
      prepare: Effect.map(newKey(owner.token), ({ id, secret }) => ({
        use: read(secret),
        lose: (at: number) => done(ask(at, "DELETE", `/v1/api-keys/${id}`, { token: owner.token })),
        after: "401 invalid_token"
      }))
    }
    const signOut: Loss = {
      name: "signed-out session",
      prepare: Effect.map(enter(port, `boss-${lane}@example.com`), ({ token }) => ({
        use: read(token),
        lose: (at: number) => done(ask(at, "POST", "/v1/auth/logout", { token })),
        after: "401 sign_in_required"
      }))
    }
    return {
      person: UserId.make(person.user),
      losses: [
        demotion("demoted session", admin.token),
        demotion("demoted creator's key", adminKey.secret),
        removal("removed member's session", false),
        removal("removed member's key", true),
        disabling("disabled account's session", person.token),
        disabling("disabled account's key", personKey.secret),
        revocation,
        signOut
      ]
    }
  })
