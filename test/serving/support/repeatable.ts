/** Calls of every kind that are repeated with their `Idempotency-Key`, each with what it needs. */
import { Effect } from "effect"
import { ask, signIn } from "./ask.ts"

export interface Repeatable {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly token: string
  readonly body?: unknown
  readonly status: number
  /** The status of a repetition where the effect has ended the rights of its caller. */
  readonly gone?: number
}

interface Place {
  readonly url: string
  readonly idToken: (email: string) => string
  /** Ends every operation, as a runner would: none works. */
  readonly finish: Effect.Effect<unknown>
}

/** The answer of a call that has to succeed. */
const made = (...call: Parameters<typeof ask>) =>
  Effect.map(ask(...call), ({ body, status }) => {
    if (status >= 400) throw new Error(`${call[1]} ${call[2]} was answered with ${status}: ${JSON.stringify(body)}`)
    return body
  })

/** The calls of a round, which do not depend on each other. `round` is part of every name. */
export const repeatables = Effect.fnUntraced(function* (
  { finish, idToken, url }: Place,
  owner: { readonly token: string; readonly user: string },
  round: string
) {
  const post = (path: string, token: string, body?: unknown) => made(url, "POST", path, token, body)
  const { token } = owner
  // The personal organization of the owner has the id of its person.
  const home = `/v1/orgs/${owner.user}`
  const shopping = Effect.gen(function* () {
    const shop = yield* post("/v1/projects", token, { name: `shop-${round}` })
    yield* finish
    const copy = (name: string) => post(`/v1/projects/${shop.project.id}/branches`, token, { name })
    const copies = yield* Effect.all({ reset: copy("reset"), served: copy("served") }, { concurrency: "unbounded" })
    yield* finish
    return { ...copies, shop }
  })
  const invited = `member-${round}@example.com`
  const inviting = Effect.andThen(post(`${home}/invitations`, token, { email: invited }), signIn(url, idToken(invited)))
  const founding = Effect.gen(function* () {
    const person = yield* signIn(url, idToken(`founder-${round}@example.com`))
    const { organization } = yield* post("/v1/orgs", person.token, { name: "team" })
    const { access_token } = yield* post("/v1/auth/switch-org", person.token, { org_id: organization.id })
    return { token: person.token, team: `/v1/orgs/${organization.id}`, inside: String(access_token) }
  })
  const [{ reset, served, shop }, member, founder] = yield* Effect.all([shopping, inviting, founding], {
    concurrency: "unbounded"
  })
  const project = `/v1/projects/${shop.project.id}`

  const calls: ReadonlyArray<Repeatable> = [
    { name: "project", method: "POST", path: "/v1/projects", token, body: { name: `p-${round}` }, status: 201 },
    {
      name: "endpoint",
      method: "POST",
      path: `${project}/endpoints`,
      token,
      body: { branch_id: served.branch.id, type: "read_write" },
      status: 201
    },
    { name: "start", method: "POST", path: `${project}/endpoints/${shop.endpoint.id}/start`, token, status: 200 },
    { name: "reset", method: "POST", path: `${project}/branches/${reset.branch.id}/reset`, token, status: 200 },
    {
      name: "organization",
      method: "POST",
      path: "/v1/orgs",
      token: founder.token,
      body: { name: "other" },
      status: 201
    },
    {
      name: "end",
      method: "DELETE",
      path: founder.team,
      token: founder.inside,
      status: 204,
      gone: 403
    },
    { name: "removal", method: "DELETE", path: `${home}/members/${member.user}`, token, status: 204 }
  ]
  return calls.map((call) => ({ ...call, name: `${call.name}-${round}` }))
})
