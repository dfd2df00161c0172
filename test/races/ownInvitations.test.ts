/** Invitations of people with accounts: accepted, declined, revoked and ended with their organization at once. */
import { assert, layer } from "@effect/vitest"
import { type AnyCaller, type InvitationId, Invitations, Organizations, OwnInvitations } from "@narthex/core"
import { Database } from "@narthex/postgres"
import { Effect, Result } from "effect"
import { inOrder } from "./support/inOrder.ts"
import { patience, race, rounds } from "./support/rounds.ts"
import { teamOf } from "./support/team.ts"
import { signIn, world } from "./support/world.ts"

type Outcome = Result.Result<unknown, { readonly _tag: string }>
const told = (outcomes: ReadonlyArray<Outcome>) =>
  outcomes.map((it) => (Result.isSuccess(it) ? "done" : it.failure._tag))

/** A person with an account who is invited into a team, and what can happen to the invitation. */
const invited = (name: string) =>
  Effect.gen(function* () {
    const invitations = yield* Invitations
    const organizations = yield* Organizations
    const own = yield* OwnInvitations
    const { query } = yield* Database
    const { org, owners } = yield* teamOf(name)
    const email = `guest-${name}@example.org`
    const guest: AnyCaller = yield* signIn(email)
    const { id } = yield* invitations.create(owners[0], { email, role: "member" })
    const asVoid = (call: (caller: AnyCaller, id: InvitationId) => Effect.Effect<unknown, { readonly _tag: string }>) =>
      Effect.asVoid(call(guest, id))
    return {
      accept: asVoid(own.accept),
      decline: asVoid(own.decline),
      revoke: Effect.asVoid(invitations.revoke(owners[0], id)),
      end: Effect.asVoid(organizations.remove(owners[0])),
      /** `accepted`, `revoked`, `pending`, or `gone`; and how many memberships the guest has in the team. */
      left: Effect.gen(function* () {
        const [row] = yield* query<{ readonly accepted: boolean; readonly revoked: boolean }>(
          "test",
          "select accepted_at is not null as accepted, revoked_at is not null as revoked from narthex.invitation where id = $1",
          [id]
        )
        const members = yield* query("test", "select 1 from narthex.membership where org_id = $1 and user_id = $2", [
          org,
          guest.user.id
        ])
        const state = row === undefined ? "gone" : row.accepted ? "accepted" : row.revoked ? "revoked" : "pending"
        return [state, members.length] as const
      })
    }
  })

type Step = "accept" | "decline" | "revoke" | "end"

/** The first step, those that wait for it, what these are answered, and what is left. */
const orders: ReadonlyArray<readonly [Step, ReadonlyArray<Step>, ReadonlyArray<string>, readonly [string, number]]> = [
  ["accept", ["accept", "accept", "decline"], ["NotFound", "NotFound", "NotFound"], ["accepted", 1]],
  ["accept", ["revoke"], ["Conflict"], ["accepted", 1]],
  ["revoke", ["accept"], ["NotFound"], ["revoked", 0]],
  ["decline", ["accept"], ["NotFound"], ["revoked", 0]],
  ["decline", ["revoke"], ["NotFound"], ["revoked", 0]],
  ["end", ["accept", "decline"], ["NotFound", "NotFound"], ["gone", 0]],
  ["accept", ["end"], ["done"], ["gone", 0]]
]

layer(world, { excludeTestServices: true })("an invitation of a person with an account", (it) => {
  for (const [index, [first, others, answers, left]] of orders.entries())
    it.effect(`${others.join(", ")} that waits for ${first} is answered ${answers.join(", ")}`, () =>
      Effect.gen(function* () {
        const it = yield* invited(`order-${index}`)
        const outcomes = yield* inOrder(
          it[first],
          others.map((step) => it[step])
        )
        assert.isTrue(Result.isSuccess(outcomes.first), "the first succeeds")
        assert.deepStrictEqual(told(outcomes.others), answers)
        assert.deepStrictEqual(yield* it.left, left)
      })
    )

  it.effect(
    "exactly one of accepting, declining and revoking at once has an effect, and the membership agrees with it",
    () =>
      rounds("own invitations", (n) =>
        Effect.gen(function* () {
          const it = yield* invited(`free-${n}`)
          const outcomes = told(
            yield* race<unknown, { readonly _tag: string }, never>([it.accept, it.accept, it.decline, it.revoke])
          )
          const done = outcomes.filter((answer) => answer === "done").length
          const accepted = outcomes.slice(0, 2).includes("done")
          const [state, members] = yield* it.left
          const strange = outcomes.filter((answer) => !["done", "NotFound", "Conflict"].includes(answer))
          return [
            ...(done === 1 ? [] : [`${done} had an effect`]),
            ...(state === (accepted ? "accepted" : "revoked") ? [] : [`it is ${state}`]),
            ...(members === (accepted ? 1 : 0) ? [] : [`${members} memberships`]),
            ...strange
          ]
        })
      ),
    patience
  )
})
