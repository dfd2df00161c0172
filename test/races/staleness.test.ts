/**
 * A demotion, a removal, a disabling or a revocation acts on the very next request, on the server that made it and on
 * another one: nothing of a credential is remembered between requests.
 *
 * Each try shows first that the right is there, on both servers, and asks again as soon as the change was answered.
 * `NARTHEX_TEST_LONG=1` asks 10,000 times.
 */
import { assert, layer } from "@effect/vitest"
import { OperatorAccounts, UserId } from "@narthex/core"
import { Effect } from "effect"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { long, patience } from "./support/rounds.ts"
import { type Answer, ask, enter, withTwoServers } from "./support/twoServers.ts"

const asked = long ? 10_000 : 400
const lanes = 4

type Ports = readonly [number, number]

/** A way to lose a right, ready to be used again and again. */
interface Loss {
  readonly name: string
  /** Makes or restores the right; answers how to use it, how it goes, and what is answered afterwards. */
  readonly prepare: Effect.Effect<{
    readonly use: (port: number) => Effect.Effect<Answer>
    readonly lose: (port: number) => Effect.Effect<unknown, unknown, OperatorAccounts>
    readonly after: string
  }>
}

const said = ({ body, status }: Answer) => (status < 300 ? "allowed" : `${status} ${body.code}`)

const done = (answer: Effect.Effect<Answer>) =>
  Effect.filterOrElse(
    answer,
    ({ status }) => status < 300,
    (it) => Effect.die(new Error(`${it.status} ${JSON.stringify(it.body)}`))
  )

const lossesOf = (ports: Ports, lane: number) =>
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
        yield* enter(port, removed)
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

layer(PostgresServer.layer, { excludeTestServices: true })("a right that is taken away", (it) => {
  it.effect(
    "is gone on the next request, on both servers",
    () =>
      withTwoServers((ports) =>
        Effect.gen(function* () {
          const { enable } = yield* OperatorAccounts
          const answers = new Map<string, number>()
          const wrong: Array<string> = []
          let total = 0
          let turn = 0
          const lane = (number: number) =>
            Effect.gen(function* () {
              const { losses, person } = yield* lossesOf(ports, number)
              while (total < asked) {
                const loss = losses[turn++ % losses.length]
                if (loss === undefined) return
                const here = turn % 3 === 0 ? ports[1] : ports[0]
                yield* enable(person)
                const { after, lose, use } = yield* loss.prepare
                const before = yield* Effect.forEach(ports, use)
                for (const it of before)
                  if (said(it) !== "allowed") wrong.push(`${loss.name}: had no right: ${said(it)}`)
                yield* lose(here)
                // The other server first, and both at once every other time.
                const now = yield* Effect.forEach(
                  ports.toSorted((a) => (a === here ? 1 : -1)),
                  use,
                  { concurrency: turn % 2 === 0 ? 2 : 1 }
                )
                for (const it of now) if (said(it) !== after) wrong.push(`${loss.name}: ${said(it)}`)
                total += now.length
                answers.set(loss.name, (answers.get(loss.name) ?? 0) + now.length)
              }
            })
          yield* Effect.forEach(
            Array.from({ length: lanes }, (_, number) => number),
            lane,
            { concurrency: "unbounded", discard: true }
          )
          if (long)
            console.log(
              JSON.stringify({ name: "staleness", total, wrong: wrong.length, ...Object.fromEntries(answers) })
            )
          assert.deepStrictEqual(wrong, [])
          assert.isAtLeast(total, asked)
          assert.strictEqual(answers.size, 8, "every way was tried")
        }).pipe(Effect.provide(OperatorAccounts.layer))
      ),
    patience
  )
})
