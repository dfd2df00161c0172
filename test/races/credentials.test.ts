/** A database credential that is minted while what it rests on ends: it is refused, or it ends too. */
import { assert, layer } from "@effect/vitest"
import {
  ApiKeys,
  BranchRoleStore,
  Credentials,
  OperationRunner,
  OperatorAccounts,
  Organizations,
  Projects
} from "@narthex/core"
import { DateTime, Effect, Layer, Random, Result } from "effect"
import { inOrder } from "./support/inOrder.ts"
import { patience, race, rounds } from "./support/rounds.ts"
import { makeOwners, teamOf } from "./support/team.ts"
import { workedOff } from "./support/workedOff.ts"
import { withKey, world } from "./support/world.ts"

const plain = { confirmed: true, hand_over_credentials: false }

const ways = ["revoke the key", "remove the member", "disable the person", "demote the member"] as const
type Way = (typeof ways)[number]

/** A key of an owner of a team that mints on a branch, and what ends its credentials. */
const settingOf = (name: string) =>
  Effect.gen(function* () {
    const { removeMember, changeRole } = yield* Organizations
    const { disable } = yield* OperatorAccounts
    const keys = yield* ApiKeys
    const { mint } = yield* Credentials
    const { org, owners } = yield* teamOf(name)
    yield* makeOwners(org, owners)
    const [boss, person] = owners
    const key = yield* withKey(person, org, "read_write")
    const { branch, project } = yield* (yield* Projects).create(boss, { name: "p", region: null })
    yield* workedOff(branch)
    const end: Record<Way, Effect.Effect<unknown, { readonly _tag: string }>> = {
      "revoke the key": keys.revoke(boss, key.kind === "api_key" ? key.api_key_id : assert.fail("no key")),
      "remove the member": removeMember(boss, person.user.id, plain),
      "disable the person": disable(person.user.id),
      "demote the member": changeRole(boss, person.user.id, "viewer", false)
    }
    return { branch, end, mint: mint(key, project, branch, "read_write", null) }
  })

type Setting = Effect.Success<ReturnType<typeof settingOf>>

const left = ({ branch }: Setting) =>
  Effect.gen(function* () {
    const valid = yield* (yield* BranchRoleStore).valid(branch.id, yield* DateTime.now)
    return valid.length === 0 ? [] : [`${valid.length} credentials outlive what they rest on`]
  })

layer(OperationRunner.layerManual.pipe(Layer.provideMerge(world)), { excludeTestServices: true })(
  "credentials and their ends",
  (it) => {
    for (const way of ways) {
      it.effect(`${way}: the credential that was minted just before ends`, () =>
        Effect.gen(function* () {
          const at = yield* settingOf(`before ${way}`.replaceAll(" ", "-"))
          const { first, others } = yield* inOrder(at.mint, [at.end[way]])
          assert.isTrue(Result.isSuccess(first), "the credential is minted")
          assert.isTrue(others.every(Result.isSuccess), way)
          assert.deepStrictEqual(yield* left(at), [])
        })
      )

      it.effect(`${way}: minting that waited for it is refused`, () =>
        Effect.gen(function* () {
          const at = yield* settingOf(`after ${way}`.replaceAll(" ", "-"))
          const { first, others } = yield* inOrder(at.end[way], [at.mint, at.mint])
          assert.isTrue(Result.isSuccess(first), way)
          const refusals = others.map((it) => (Result.isFailure(it) ? it.failure._tag : "minted"))
          const expected = way === "revoke the key" || way === "disable the person" ? "InvalidCredential" : "Refused"
          assert.deepStrictEqual(refusals, [expected, expected])
          assert.deepStrictEqual(yield* left(at), [])
        })
      )
    }

    it.effect(
      "no credential outlives what it rests on, however minting and the end interleave",
      () =>
        Effect.gen(function* () {
          const outcomes = { minted: 0, refused: 0 }
          const round = (n: number) =>
            Effect.gen(function* () {
              const way = ways[yield* Random.nextIntBetween(0, ways.length)] ?? "revoke the key"
              const at = yield* settingOf(`round-${n}`)
              const [ended, ...minted] = yield* race<unknown, { readonly _tag: string }, never>([
                at.end[way],
                at.mint,
                at.mint,
                at.mint
              ])
              outcomes.minted += minted.filter(Result.isSuccess).length
              outcomes.refused += minted.filter(Result.isFailure).length
              return [
                ...(ended !== undefined && Result.isSuccess(ended) ? [] : [`could not ${way}`]),
                ...(yield* left(at))
              ]
            })
          yield* rounds("mint and end", round, { lanes: 3, outcomes })
        }),
      patience
    )
  }
)
