/** Who belongs to an organization, when several decide about it at once. */
import { assert, layer } from "@effect/vitest"
import {
  AccountStore,
  EventLog,
  Invitations,
  Membership,
  Organizations,
  type OrgId,
  type SessionCaller,
  type Sessions
} from "@narthex/core"
import { Database } from "@narthex/postgres"
import { DateTime, Effect, Random, Result } from "effect"
import { patience, race, rounds, successes } from "./support/rounds.ts"
import { exchange, signIn, world } from "./support/world.ts"

/** Two people and a team, and each of them as a caller that was let in as its owner. */
const pair = (lane: number) =>
  Effect.gen(function* () {
    const organizations = yield* Organizations
    const first = yield* signIn(`owner-a-${lane}@example.com`)
    const second = yield* signIn(`owner-b-${lane}@example.com`)
    const team = yield* organizations.create(first, "team")
    const asOwner = (caller: SessionCaller): SessionCaller => ({
      ...caller,
      org_id: team.id,
      organization: { ...caller.organization, id: team.id, personal: false, role: "owner" }
    })
    return { org: team.id, owners: [asOwner(first), asOwner(second)] as const }
  })

const makeOwners = (org: OrgId, owners: ReadonlyArray<SessionCaller>) =>
  Effect.gen(function* () {
    const accounts = yield* AccountStore
    const now = yield* DateTime.now
    yield* Effect.forEach(owners, ({ user }) =>
      accounts.putMembership(new Membership({ org_id: org, user_id: user.id, role: "owner", joined_at: now }))
    )
  })

layer(world, { excludeTestServices: true })("members", (it) => {
  it.effect(
    "two owners who demote or remove each other, or both leave, leave one owner",
    () =>
      Effect.gen(function* () {
        const accounts = yield* AccountStore
        const { changeRole, removeMember } = yield* Organizations
        const pairs = yield* Effect.forEach([0, 1, 2], pair)
        yield* rounds("owners", (_, lane) =>
          Effect.gen(function* () {
            const it = pairs[lane]
            if (it === undefined) return ["there is no such lane"]
            const [a, b] = it.owners
            yield* makeOwners(it.org, it.owners)
            const against = (actor: SessionCaller, other: SessionCaller) =>
              Effect.flatMap(Random.nextIntBetween(0, 4), (how) => {
                if (how === 0) return removeMember(actor, other.user.id, false)
                if (how === 1) return changeRole(actor, other.user.id, "member", false)
                if (how === 2) return removeMember(actor, actor.user.id, true)
                return changeRole(actor, actor.user.id, "viewer", true)
              })
            const outcomes = yield* race([against(a, b), against(b, a), against(a, b), against(b, a)])
            const strange = outcomes.filter(
              (it) => Result.isFailure(it) && !["Conflict", "NotFound", "Refused"].includes(it.failure._tag)
            )
            const owners = (yield* accounts.members(it.org)).filter(({ role }) => role === "owner")
            return [
              ...(owners.length === 1 ? [] : [`${owners.length} owners remain`]),
              ...(strange.length === 0 ? [] : [`${strange.length} were answered something else`])
            ]
          })
        )
      }),
    patience
  )

  it.effect(
    "an owner who was removed removes nobody any more",
    () =>
      Effect.gen(function* () {
        const accounts = yield* AccountStore
        const log = yield* EventLog
        const { removeMember } = yield* Organizations
        const { query } = yield* Database
        const trios = yield* Effect.forEach([20, 21, 22], (lane) =>
          Effect.gen(function* () {
            const { org, owners } = yield* pair(lane)
            const third = yield* signIn(`owner-c-${lane}@example.com`)
            const acting = { org_id: org, organization: owners[0].organization }
            return { org, owners: [...owners, { ...third, ...acting, permissions: owners[0].permissions }] }
          })
        )
        const outcome = { chains: 0, refused: 0 }
        yield* rounds("a chain of removals", (_, lane) =>
          Effect.gen(function* () {
            const it = trios[lane]
            const [a, b, c] = it?.owners ?? []
            if (it === undefined || a === undefined || b === undefined || c === undefined) return ["no such lane"]
            yield* makeOwners(it.org, it.owners)
            const outcomes = yield* race([removeMember(a, b.user.id, false), removeMember(b, c.user.id, false)])
            const left = new Set((yield* accounts.members(it.org)).map(({ user_id }) => user_id))
            if (left.has(b.user.id)) return ["the first removal failed"]
            if (Result.isFailure(outcomes[1] ?? Result.fail(undefined))) {
              outcome.refused += 1
              return left.has(c.user.id) ? [] : ["who was refused removed somebody all the same"]
            }
            outcome.chains += 1
            const waiting = query("test", "select 1 from event_outbox where org_id = $1", [it.org])
            while ((yield* waiting).length > 0) yield* log.sequence
            // Two members of one organization: their ends stand in the log in the order of their commits.
            const [last] = yield* query<{ readonly user_id: string }>(
              "test",
              `select data->>'user_id' as user_id from event_log
               where internal and type = 'internal.revoked.v1' and data->>'org_id' = $1 order by pos desc limit 1`,
              [it.org]
            )
            return last?.user_id === b.user.id ? [] : ["somebody was removed by an owner who was none any more"]
          })
        )
        assert.isAbove(outcome.chains, 0, "some were before it")
        assert.isAbove(outcome.refused, 0, "some were after it")
      }),
    patience
  )

  it.effect(
    "an organization that ends while invitations into it are honoured leaves no member behind",
    () =>
      Effect.gen(function* () {
        const invitations = yield* Invitations
        const { remove } = yield* Organizations
        const { query } = yield* Database
        yield* rounds("organization's end", (n) =>
          Effect.gen(function* () {
            const { org, owners } = yield* pair(100 + n)
            const guests = [0, 1, 2].map((at) => `guest-${at}-${n}@example.org`)
            yield* Effect.forEach(guests, (email) => invitations.create(owners[0], { email, role: "member" }))
            const [removed] = yield* race<unknown, unknown, Sessions>([remove(owners[0]), ...guests.map(exchange)])
            const left = yield* query("test", "select 1 from membership where org_id = $1", [org])
            return [
              ...(removed !== undefined && Result.isSuccess(removed) ? [] : ["it could not be removed"]),
              ...(left.length === 0 ? [] : [`${left.length} memberships of nothing`])
            ]
          })
        )
      }),
    patience
  )

  it.effect(
    "parallel invitations of one address leave one that is pending",
    () =>
      Effect.gen(function* () {
        const invitations = yield* Invitations
        const { query } = yield* Database
        const inviters = yield* Effect.forEach([10, 11, 12], pair)
        yield* rounds("invitations", (n, lane) =>
          Effect.gen(function* () {
            const it = inviters[lane]
            if (it === undefined) return ["there is no such lane"]
            yield* makeOwners(it.org, it.owners)
            const [a, b] = it.owners
            const email = `guest-${n}@example.com`
            const spelled = [email, `guest-${n}@EXAMPLE.com`, email.toUpperCase()]
            const outcomes = yield* race(
              [a, b].flatMap((owner) =>
                spelled.flatMap((address) => [
                  invitations.create(owner, { email: address, role: "member" }),
                  invitations.create(owner, { email: address, role: "viewer" })
                ])
              )
            )
            const [kept] = yield* query<{ readonly n: number }>(
              "test",
              "select count(*) as n from invitation where org_id = $1 and email = $2",
              [it.org, email]
            )
            const strange = outcomes.filter((it) => Result.isFailure(it) && it.failure._tag !== "Conflict")
            return [
              ...(successes(outcomes) === 1 && kept?.n === 1 ? [] : [`${successes(outcomes)} made, ${kept?.n} kept`]),
              ...(strange.length === 0 ? [] : [`${strange.length} were answered something else`])
            ]
          })
        )
      }),
    patience
  )
})
