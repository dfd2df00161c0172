/** Invitations that are made or accepted at once. */
import { assert, layer } from "@effect/vitest"
import { Invitations, Organizations, type Sessions } from "@narthex/core"
import { Database } from "@narthex/postgres"
import { Effect, Result } from "effect"
import { inOrder } from "./support/inOrder.ts"
import { patience, race, rounds, successes } from "./support/rounds.ts"
import { makeOwners, type Team, teamOf } from "./support/team.ts"
import { exchange, world } from "./support/world.ts"

/** A team with three invited guests, and its end. */
const inviting = (name: string) =>
  Effect.gen(function* () {
    const invitations = yield* Invitations
    const organizations = yield* Organizations
    const { query } = yield* Database
    const { org, owners } = yield* teamOf(name)
    const guests = [0, 1, 2].map((at) => `guest-${at}-${name}@example.org`)
    yield* Effect.forEach(guests, (email) => invitations.create(owners[0], { email, role: "member" }))
    return {
      end: organizations.remove(owners[0]),
      enter: guests.map(exchange),
      left: Effect.map(query("test", "select 1 from narthex.membership where org_id = $1", [org]), (rows) =>
        rows.map(() => "a membership of nothing")
      )
    }
  })

/** Invitations of one address by two owners, in several spellings. */
const sameAddress = ({ owners: [a, b] }: Team, local: string) =>
  Effect.map(Invitations, (invitations) => {
    const email = `${local}@example.com`
    const spelled = [email, `${local}@EXAMPLE.com`, email.toUpperCase()]
    return [a, b].flatMap((owner) =>
      spelled.flatMap((address) => [
        invitations.create(owner, { email: address, role: "member" }),
        invitations.create(owner, { email: address, role: "viewer" })
      ])
    )
  })

const kept = ({ org }: Team, local: string) =>
  Effect.gen(function* () {
    const { query } = yield* Database
    const rows = yield* query("test", "select 1 from narthex.invitation where org_id = $1 and email = $2", [
      org,
      `${local}@example.com`
    ])
    return rows.length
  })

layer(world, { excludeTestServices: true })("an invitation", (it) => {
  it.effect("an invitation that waits for the end of its organization makes no member", () =>
    Effect.gen(function* () {
      const { end, enter, left } = yield* inviting("ends-first")
      const { first, others } = yield* inOrder(end, enter)
      assert.isTrue(Result.isSuccess(first), "the organization ends")
      assert.isTrue(others.every(Result.isSuccess), "the guests come in, to their personal organizations")
      assert.deepStrictEqual(yield* left, [])
    })
  )

  it.effect("an invitation that is accepted just before the end of its organization leaves no member behind", () =>
    Effect.gen(function* () {
      const { end, enter, left } = yield* inviting("ends-last")
      const { first, others } = yield* inOrder(enter[0] ?? assert.fail("no guest"), [end])
      assert.isTrue(Result.isSuccess(first), "the guest comes in")
      assert.isTrue(others.every(Result.isSuccess), "the organization ends")
      assert.deepStrictEqual(yield* left, [])
    })
  )

  it.effect("an invitation that is made while its organization ends waits and is refused", () =>
    Effect.gen(function* () {
      const invitations = yield* Invitations
      const { query } = yield* Database
      const { org, owners } = yield* teamOf("ends-invited")
      yield* makeOwners(org, owners)
      const invite = invitations.create(owners[1], { email: "late@example.com", role: "member" })
      const { first, others } = yield* inOrder((yield* Organizations).remove(owners[0]), [invite])
      assert.isTrue(Result.isSuccess(first), "the organization ends")
      assert.deepStrictEqual(
        others.map((it) => (Result.isSuccess(it) ? "invited" : it.failure._tag)),
        ["NotFound"]
      )
      assert.lengthOf(yield* query("test", "select 1 from narthex.invitation where org_id = $1", [org]), 0)
    })
  )

  it.effect(
    "an invitation that is accepted while its organization ends leaves no member behind",
    () =>
      rounds("organization's end", (n) =>
        Effect.gen(function* () {
          const { end, enter, left } = yield* inviting(`ends-${n}`)
          const [removed] = yield* race<unknown, unknown, Sessions>([end, ...enter])
          return [
            ...(removed !== undefined && Result.isSuccess(removed) ? [] : ["it could not be removed"]),
            ...(yield* left)
          ]
        })
      ),
    patience
  )

  it.effect("an invitation of an address that is being invited waits and is refused", () =>
    Effect.gen(function* () {
      const team = yield* teamOf("one")
      yield* makeOwners(team.org, team.owners)
      const [first, ...others] = yield* sameAddress(team, "guest")
      const outcomes = yield* inOrder(first ?? assert.fail("no invitation"), others)
      assert.isTrue(Result.isSuccess(outcomes.first))
      assert.deepStrictEqual(
        outcomes.others.map((it) => (Result.isSuccess(it) ? "invited" : it.failure._tag)),
        others.map(() => "Conflict")
      )
      assert.strictEqual(yield* kept(team, "guest"), 1)
    })
  )

  it.effect(
    "one address has one pending invitation, however many are made at once",
    () =>
      Effect.gen(function* () {
        const teams = yield* Effect.forEach([0, 1, 2], (lane) => teamOf(`inviters-${lane}`))
        yield* rounds("invitations", (n, lane) =>
          Effect.gen(function* () {
            const team = teams[lane]
            if (team === undefined) return ["there is no such lane"]
            yield* makeOwners(team.org, team.owners)
            const outcomes = yield* race(yield* sameAddress(team, `guest-${n}`))
            const pending = yield* kept(team, `guest-${n}`)
            const strange = outcomes.filter((it) => Result.isFailure(it) && it.failure._tag !== "Conflict")
            return [
              ...(successes(outcomes) === 1 && pending === 1 ? [] : [`${successes(outcomes)} made, ${pending} kept`]),
              ...(strange.length === 0 ? [] : [`${strange.length} were answered something else`])
            ]
          })
        )
      }),
    patience
  )
})
