/** What of a session may not be had by asking at the right moment. */
import { assert, layer } from "@effect/vitest"
import { AccountStore, Invitations, Organizations, personalOrgId, Sessions } from "@narthex/core"
import { Database } from "@narthex/postgres"
import { Effect, type Redacted, Result } from "effect"
import { patience, race, rounds, successes } from "./support/rounds.ts"
import { authenticate, exchange, signIn, world } from "./support/world.ts"

const tokenOf = <E>(outcome: Result.Result<Redacted.Redacted | undefined, E>) =>
  Result.isSuccess(outcome) && outcome.success !== undefined ? [outcome.success] : []

layer(world, { excludeTestServices: true })("sessions", (it) => {
  it.effect(
    "a refresh beside a revocation leaves no living token",
    () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        yield* rounds("refresh beside revoke", (_, lane) =>
          Effect.gen(function* () {
            const { access_token, user } = yield* exchange(`refresh-${lane}@example.com`)
            const caller = yield* authenticate(access_token)
            if (caller.kind !== "session") return ["a session is no session"]
            const byLogout = Math.random() < 0.5
            const logout: Effect.Effect<void, unknown> = sessions.logout(access_token)
            const end: Effect.Effect<void, unknown> = byLogout ? logout : sessions.end(user.id, caller.session_id)
            const refresh = Effect.map(sessions.refresh(access_token), (issued) => issued.access_token)
            const [ended, ...refreshed] = yield* race<Redacted.Redacted | undefined, unknown, never>([
              Effect.as(end, undefined),
              refresh,
              refresh,
              refresh
            ])
            if (ended === undefined || Result.isFailure(ended)) return ["the session could not be ended"]
            const tokens = [access_token, ...refreshed.flatMap(tokenOf)]
            const wrong = yield* Effect.forEach(tokens, (token) =>
              Effect.gen(function* () {
                const lives = yield* Effect.result(authenticate(token))
                const again = yield* Effect.result(sessions.refresh(token))
                return [
                  ...(Result.isFailure(lives) && lives.failure._tag === "SignInRequired" ? [] : ["a token lives"]),
                  ...(Result.isFailure(again) && again.failure._tag === "SignInRequired" ? [] : ["a token refreshes"])
                ]
              })
            )
            return wrong.flat()
          })
        )
      }),
    patience
  )

  it.effect(
    "parallel first sign-ins of one person make one user and one personal organization",
    () =>
      Effect.gen(function* () {
        const accounts = yield* AccountStore
        const invitations = yield* Invitations
        const organizations = yield* Organizations
        const { query } = yield* Database
        const boss = yield* signIn("boss@example.com")
        const team = yield* organizations.create(boss, "team")
        const inviter = { ...boss, org_id: team.id, organization: { ...boss.organization, id: team.id } }
        yield* rounds("first sign-ins", (n) =>
          Effect.gen(function* () {
            const email = `first-${n}@example.com`
            const invited = n % 2 === 0
            if (invited) yield* invitations.create(inviter, { email, role: "member" })
            const outcomes = yield* race(Array.from({ length: 8 }, () => exchange(email)))
            const users = yield* query<{ readonly id: string }>(
              "test",
              "select id from user_account where issuer = 'https://issuer.test' and subject = $1",
              [email]
            )
            const ids = new Set(outcomes.flatMap((it) => (Result.isSuccess(it) ? [it.success.user.id] : [])))
            const [id] = ids
            if (id === undefined) return ["nobody came in"]
            const homes = yield* accounts.organizationsOf(id)
            const personal = homes.filter((home) => home.personal)
            return [
              ...(successes(outcomes) === 8 ? [] : [`${successes(outcomes)} of 8 came in`]),
              ...(users.length === 1 && ids.size === 1 ? [] : [`${users.length} users, ${ids.size} identities`]),
              ...(personal.length === 1 && personal[0]?.id === personalOrgId(id) && personal[0].role === "owner"
                ? []
                : [`${personal.length} personal organizations`]),
              ...(homes.length === (invited ? 2 : 1) ? [] : [`${homes.length} organizations`])
            ]
          })
        )
        const [orphans] = yield* query<{ readonly n: number }>(
          "test",
          `select count(*) as n from organization o
           where o.personal and not exists (select 1 from user_account u where u.id = o.id)`
        )
        assert.strictEqual(orphans?.n, 0)
      }),
    patience
  )
})
