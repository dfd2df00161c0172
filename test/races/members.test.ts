/** Who belongs to an organization, when several decide about it at once. */
import { layer } from "@effect/vitest"
import {
  AccountStore,
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
