/** Parallel refreshes, revocations and first sign-ins of sessions. Holds docs/design/identity.md I23. */
import { assert, layer } from "@effect/vitest"
import { AccountStore, Invitations, Organizations, personalOrgId, type SessionCaller, Sessions } from "@narthex/core"
import { firstPage } from "@narthex/core/testing"
import { Database } from "@narthex/postgres"
import { Effect, Random, type Redacted, Result } from "effect"
import { inOrder } from "./support/inOrder.ts"
import { patience, race, rounds, successes } from "./support/rounds.ts"
import { authenticate, exchange, signIn, world } from "./support/world.ts"

const ends = ["logout", "end"] as const
const arrivals = 8

const tokenOf = <E>(outcome: Result.Result<Redacted.Redacted | undefined, E>) =>
  Result.isSuccess(outcome) && outcome.success !== undefined ? [outcome.success] : []

/** A new session, its refresh, and its end. */
const sessionOf = (email: string) =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const { access_token, user } = yield* exchange(email)
    const caller = yield* authenticate(access_token)
    if (caller.kind !== "session") return yield* Effect.die(new Error("A session was expected."))
    const refresh = Effect.map(sessions.refresh(access_token), (issued) => issued.access_token)
    const logout: Effect.Effect<void, unknown> = sessions.logout(access_token)
    const end: Effect.Effect<void, unknown> = sessions.end(user.id, caller.session_id)
    return { access_token, refresh, logout, end }
  })

/** Tokens that are still accepted although their session has ended. */
const living = (tokens: ReadonlyArray<Redacted.Redacted>) =>
  Effect.forEach(tokens, (token) =>
    Effect.gen(function* () {
      const lives = yield* Effect.result(authenticate(token))
      const again = yield* Effect.result((yield* Sessions).refresh(token))
      return [
        ...(Result.isFailure(lives) && lives.failure._tag === "SignInRequired" ? [] : ["a token lives"]),
        ...(Result.isFailure(again) && again.failure._tag === "SignInRequired" ? [] : ["a token refreshes"])
      ]
    })
  ).pipe(Effect.map((wrong) => wrong.flat()))

/** The owner of a team, as a caller who invites into it. */
const inviterOf = (email: string) =>
  Effect.gen(function* () {
    const boss = yield* signIn(email)
    const team = yield* (yield* Organizations).create(boss, "team")
    const inviter: SessionCaller = { ...boss, org_id: team.id, organization: { ...boss.organization, id: team.id } }
    return inviter
  })

type Arrival = Effect.Success<ReturnType<typeof exchange>>

/** The violations after parallel first sign-ins of a person. */
const newcomer = <E>(email: string, invited: boolean, outcomes: ReadonlyArray<Result.Result<Arrival, E>>) =>
  Effect.gen(function* () {
    const { query } = yield* Database
    const users = yield* query<{ readonly id: string }>(
      "test",
      "select id from narthex.user_account where issuer = 'https://issuer.test' and subject = $1",
      [email]
    )
    const ids = new Set(outcomes.flatMap((it) => (Result.isSuccess(it) ? [it.success.user.id] : [])))
    const [id] = ids
    if (id === undefined) return ["none came in"]
    const { items: homes } = yield* (yield* AccountStore).organizationsOf(id, firstPage)
    const personal = homes.filter((home) => home.personal)
    return [
      ...(successes(outcomes) === arrivals ? [] : [`${successes(outcomes)} of ${arrivals} came in`]),
      ...(users.length === 1 && ids.size === 1 ? [] : [`${users.length} users, ${ids.size} identities`]),
      ...(personal.length === 1 && personal[0]?.id === personalOrgId(id) && personal[0].role === "owner"
        ? []
        : [`${personal.length} personal organizations`]),
      ...(homes.length === (invited ? 2 : 1) ? [] : [`${homes.length} organizations`])
    ]
  })

layer(world, { excludeTestServices: true })("sessions", (it) => {
  for (const end of ends) {
    it.effect(`a refresh just before the session's end (${end}) leaves no valid token`, () =>
      Effect.gen(function* () {
        const session = yield* sessionOf(`before-${end}@example.com`)
        const { first, others } = yield* inOrder<Redacted.Redacted, unknown, never, void, unknown, never>(
          session.refresh,
          [session[end]]
        )
        assert.isTrue(Result.isSuccess(first), "it is refreshed")
        assert.isTrue(others.every(Result.isSuccess), "it ends")
        assert.deepStrictEqual(yield* living([session.access_token, ...tokenOf(first)]), [])
      })
    )

    it.effect(`a refresh that waits for the session's end (${end}) is refused`, () =>
      Effect.gen(function* () {
        const session = yield* sessionOf(`after-${end}@example.com`)
        const { first, others } = yield* inOrder<void, unknown, never, unknown, { readonly _tag: string }, never>(
          session[end],
          [session.refresh, session.refresh, session.refresh]
        )
        assert.isTrue(Result.isSuccess(first), "it ends")
        assert.deepStrictEqual(
          others.map((it) => (Result.isSuccess(it) ? "refreshed" : it.failure._tag)),
          ["SignInRequired", "SignInRequired", "SignInRequired"]
        )
        assert.deepStrictEqual(yield* living([session.access_token]), [])
      })
    )
  }

  it.effect(
    "a parallel refresh and revocation leave no valid token",
    () =>
      Effect.gen(function* () {
        const outcomes = { refreshed: 0, refused: 0 }
        yield* rounds(
          "refresh and revoke",
          (_, lane) =>
            Effect.gen(function* () {
              const { access_token, refresh, ...session } = yield* sessionOf(`refresh-${lane}@example.com`)
              const end = session[(yield* Random.nextBoolean) ? "logout" : "end"]
              const [ended, ...refreshed] = yield* race<Redacted.Redacted | undefined, unknown, never>([
                Effect.as(end, undefined),
                refresh,
                refresh,
                refresh
              ])
              if (ended === undefined || Result.isFailure(ended)) return ["the session could not be ended"]
              const tokens = refreshed.flatMap(tokenOf)
              outcomes.refreshed += tokens.length
              outcomes.refused += refreshed.length - tokens.length
              return yield* living([access_token, ...tokens])
            }),
          { outcomes }
        )
      }),
    patience
  )

  for (const invited of [false, true])
    it.effect(`first sign-ins of a person (invited: ${invited}) that wait for another one share its user`, () =>
      Effect.gen(function* () {
        const email = `waits-${invited}@example.com`
        if (invited) {
          const inviter = yield* inviterOf("boss-of-one@example.com")
          yield* (yield* Invitations).create(inviter, { email, role: "member" })
        }
        const { first, others } = yield* inOrder(
          exchange(email),
          Array.from({ length: arrivals - 1 }, () => exchange(email))
        )
        assert.deepStrictEqual(yield* newcomer(email, invited, [first, ...others]), [])
      })
    )

  it.effect(
    "parallel first sign-ins of one person make one user and one personal organization",
    () =>
      Effect.gen(function* () {
        const invitations = yield* Invitations
        const { query } = yield* Database
        const inviter = yield* inviterOf("boss@example.com")
        yield* rounds("first sign-ins", (n) =>
          Effect.gen(function* () {
            const email = `first-${n}@example.com`
            const invited = n % 2 === 0
            if (invited) yield* invitations.create(inviter, { email, role: "member" })
            return yield* newcomer(email, invited, yield* race(Array.from({ length: arrivals }, () => exchange(email))))
          })
        )
        const [orphans] = yield* query<{ readonly n: number }>(
          "test",
          `select count(*) as n from narthex.organization o
           where o.personal and not exists (select 1 from narthex.user_account u where u.id = o.id)`
        )
        assert.strictEqual(orphans?.n, 0)
      }),
    patience
  )
})
