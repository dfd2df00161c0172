/** Parallel changes of the members of an organization. Holds docs/design/api.md A27. */
import { assert, layer } from "@effect/vitest"
import { AccountStore, EventLog, Organizations, type SessionCaller } from "@narthex/core"
import { firstPage } from "@narthex/core/testing"
import { Database } from "@narthex/postgres"
import { Effect, Random, Result } from "effect"
import { eventually } from "../harness/eventually.ts"
import { inOrder } from "./support/inOrder.ts"
import { patience, race, rounds } from "./support/rounds.ts"
import { makeOwners, type Team, teamOf } from "./support/team.ts"
import { world } from "./support/world.ts"

const ways = ["remove", "demote", "leave", "step down"] as const

/** Second actions that are still granted after the first: the last owner remains. */
const stillGranted = new Set(["demote, leave", "step down, remove", "step down, demote"])

/** An action of an owner that leaves one owner less. */
const against = (actor: SessionCaller, other: SessionCaller, way: (typeof ways)[number]) =>
  Effect.flatMap(Organizations, ({ changeRole, removeMember }) => {
    if (way === "remove")
      return Effect.asVoid(removeMember(actor, other.user.id, { confirmed: false, hand_over_credentials: false }))
    if (way === "demote") return Effect.asVoid(changeRole(actor, other.user.id, "member", false))
    if (way === "leave")
      return Effect.asVoid(removeMember(actor, actor.user.id, { confirmed: true, hand_over_credentials: false }))
    return Effect.asVoid(changeRole(actor, actor.user.id, "viewer", true))
  })

/** The violations after two owners demoted or removed each other. */
const oneOwner = <E extends { readonly _tag: string }>(
  { org }: Team,
  outcomes: ReadonlyArray<Result.Result<unknown, E>>
) =>
  Effect.gen(function* () {
    const strange = outcomes.filter(
      (it) => Result.isFailure(it) && !["Conflict", "NotFound", "Refused"].includes(it.failure._tag)
    )
    const owners = (yield* (yield* AccountStore).members(org, firstPage)).items.filter(({ role }) => role === "owner")
    return [
      ...(owners.length === 1 ? [] : [`${owners.length} owners remain`]),
      ...(strange.length === 0 ? [] : [`${strange.length} were answered something else`])
    ]
  })

/** The removed members, in the order of the event log. */
const removals = (team: Team) =>
  Effect.gen(function* () {
    const log = yield* EventLog
    const { query } = yield* Database
    yield* eventually(
      "the outbox of the team to be empty",
      Effect.gen(function* () {
        yield* log.sequence
        return (yield* query("test", "select 1 from narthex.event_outbox where org_id = $1", [team.org])).length === 0
      })
    )
    const rows = yield* query<{ readonly user_id: string }>(
      "test",
      `select data->>'user_id' as user_id from narthex.event_log
       where internal and type = 'internal.revoked.v1' and data->>'org_id' = $1 order by pos`,
      [team.org]
    )
    return rows.map(({ user_id }) => team.owners.findIndex(({ user }) => user.id === user_id))
  })

layer(world, { excludeTestServices: true })("members", (it) => {
  it.effect("the second of two owners who demote or remove each other, or leave, acts on the new state", () =>
    Effect.gen(function* () {
      const team = yield* teamOf("each-other")
      const [a, b] = team.owners
      for (const first of ways)
        for (const second of ways) {
          yield* makeOwners(team.org, [a, b])
          const outcomes = yield* inOrder(against(a, b, first), [against(b, a, second)])
          assert.isTrue(Result.isSuccess(outcomes.first), `the first may ${first}: ${String(outcomes.first)}`)
          const may = stillGranted.has(`${first}, ${second}`)
          assert.deepStrictEqual(outcomes.others.map(Result.isSuccess), [may], `${first}, then ${second}`)
          assert.deepStrictEqual(yield* oneOwner(team, outcomes.others), [])
        }
    })
  )

  it.effect(
    "two owners who demote or remove each other, or both leave, leave one owner",
    () =>
      Effect.gen(function* () {
        const teams = yield* Effect.forEach([0, 1, 2], (lane) => teamOf(`pair-${lane}`))
        yield* rounds("owners", (_, lane) =>
          Effect.gen(function* () {
            const team = teams[lane]
            if (team === undefined) return ["there is no such lane"]
            const [a, b] = team.owners
            yield* makeOwners(team.org, [a, b])
            const way = Effect.map(Random.nextIntBetween(0, ways.length), (at) => ways[at] ?? "remove")
            const [first, second, third, fourth] = [yield* way, yield* way, yield* way, yield* way]
            return yield* oneOwner(
              team,
              yield* race([against(a, b, first), against(b, a, second), against(a, b, third), against(b, a, fourth)])
            )
          })
        )
      }),
    patience
  )

  it.effect("an owner whose own removal commits first cannot remove another owner", () =>
    Effect.gen(function* () {
      const team = yield* teamOf("refused")
      const [a, b, c] = team.owners
      yield* makeOwners(team.org, team.owners)
      const { first, others } = yield* inOrder(against(a, b, "remove"), [against(b, c, "remove")])
      assert.isTrue(Result.isSuccess(first))
      assert.isTrue(others.every(Result.isFailure))
      assert.deepStrictEqual(yield* removals(team), [1])
      const left = (yield* (yield* AccountStore).members(team.org, firstPage)).items.map(({ user_id }) => user_id)
      assert.sameMembers(left, [a.user.id, c.user.id])
    })
  )

  it.effect("an owner who removes another just before their own removal is logged first", () =>
    Effect.gen(function* () {
      const team = yield* teamOf("chain")
      const [a, b, c] = team.owners
      yield* makeOwners(team.org, team.owners)
      const { first, others } = yield* inOrder(against(b, c, "remove"), [against(a, b, "remove")])
      assert.isTrue([first, ...others].every(Result.isSuccess))
      assert.deepStrictEqual(yield* removals(team), [2, 1])
    })
  )

  it.effect(
    "an owner who was removed cannot remove another",
    () =>
      Effect.gen(function* () {
        const accounts = yield* AccountStore
        const teams = yield* Effect.forEach([0, 1, 2], (lane) => teamOf(`trio-${lane}`))
        const outcomes = { removed: 0, refused: 0 }
        yield* rounds(
          "a chain of removals",
          (_, lane) =>
            Effect.gen(function* () {
              const team = teams[lane]
              if (team === undefined) return ["there is no such lane"]
              const [a, b, c] = team.owners
              yield* makeOwners(team.org, team.owners)
              const [, second] = yield* race([against(a, b, "remove"), against(b, c, "remove")])
              const left = new Set((yield* accounts.members(team.org, firstPage)).items.map(({ user_id }) => user_id))
              if (left.has(b.user.id)) return ["the first removal failed"]
              if (second === undefined || Result.isFailure(second)) {
                outcomes.refused += 1
                return left.has(c.user.id) ? [] : ["an owner who was refused removed a member all the same"]
              }
              outcomes.removed += 1
              // Two members of one organization: their ends stand in the log in the order of their commits.
              const last = (yield* removals(team)).at(-1)
              return last === 1 ? [] : ["a member was removed by an owner who was none any more"]
            }),
          { outcomes }
        )
      }),
    patience
  )
})
