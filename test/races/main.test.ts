/**
 * An agent's writer (a read-write credential) is never valid on a branch that becomes main while it is minted.
 * Holds docs/design/authorization.md Z25.
 */
import { assert, layer } from "@effect/vitest"
import {
  Branches,
  BranchRoleStore,
  BranchStore,
  Credentials,
  changes,
  OperationRunner,
  Projects,
  type SessionCaller
} from "@narthex/core"
import { DateTime, Effect, Layer, Option, Random, Result } from "effect"
import { inOrder } from "./support/inOrder.ts"
import { patience, race, rounds } from "./support/rounds.ts"
import { workedOff } from "./support/workedOff.ts"
import { signIn, withKey, world } from "./support/world.ts"

const policy = changes("write", "change_projects", "branch")

/** A second branch, the ways in which it becomes main and ceases to be main, and what an agent mints. */
const projectOf = (owner: SessionCaller) =>
  Effect.gen(function* () {
    const branches = yield* Branches
    const { mint } = yield* Credentials
    const agent = yield* withKey(owner, owner.org_id, "agent")
    const { branch: home, project } = yield* (yield* Projects).create(owner, { name: "p", region: null })
    const wanted = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: true }
    const { branch } = yield* branches.create(owner, project, wanted)
    yield* workedOff(branch)
    const protect = (it: boolean) => Effect.asVoid(branches.change(owner, policy, branch, { protected: it }))
    return {
      project,
      branch,
      ways: {
        default: {
          become: Effect.asVoid(branches.setDefault(owner, branch)),
          cease: Effect.asVoid(branches.setDefault(owner, home))
        },
        protected: { become: protect(true), cease: protect(false) }
      },
      write: mint(agent, project, branch, "read_write", null),
      read: mint(agent, project, branch, "read_only", null)
    }
  })

type At = Effect.Success<ReturnType<typeof projectOf>>

/** The violations on a branch that became main. */
const judged = ({ branch, project }: At) =>
  Effect.gen(function* () {
    const main = Option.exists(yield* (yield* BranchStore).find(project.id, branch.id), (it) => it.main)
    const valid = yield* (yield* BranchRoleStore).valid(branch.id, yield* DateTime.now)
    const left = valid.filter((role) => role.minted_by_agent && role.access === "read_write")
    return [
      ...(main ? [] : ["it did not become main"]),
      ...(left.length === 0 ? [] : [`${left.length} writers of agents are valid on main`])
    ]
  })

layer(OperationRunner.layerManual.pipe(Layer.provideMerge(world)), { excludeTestServices: true })("main", (it) => {
  for (const way of ["default", "protected"] as const) {
    it.effect(`the writer that an agent minted just before the branch became ${way} ends`, () =>
      Effect.gen(function* () {
        const at = yield* projectOf(yield* signIn(`before-${way}@example.com`))
        const { first, others } = yield* inOrder(at.write, [at.ways[way].become])
        assert.isTrue(Result.isSuccess(first), "the writer is minted")
        assert.isTrue(others.every(Result.isSuccess), "the branch becomes main")
        assert.deepStrictEqual(yield* judged(at), [])
      })
    )

    it.effect(`an agent mints no writer from the moment that a branch is ${way}`, () =>
      Effect.gen(function* () {
        const at = yield* projectOf(yield* signIn(`after-${way}@example.com`))
        const { first, others } = yield* inOrder(at.ways[way].become, [at.write, at.write, at.read])
        assert.isTrue(Result.isSuccess(first), "the branch becomes main")
        assert.deepStrictEqual(
          others.map((it) => (Result.isSuccess(it) ? "minted" : it.failure._tag)),
          ["Refused", "Refused", "minted"]
        )
        assert.deepStrictEqual(yield* judged(at), [])
      })
    )
  }

  it.effect(
    "main has no valid writer of an agent, however the branch became main",
    () =>
      Effect.gen(function* () {
        const owner = yield* signIn("owner@example.com")
        const projects = yield* Effect.forEach([0, 1, 2], () => projectOf(owner))
        const outcomes = { minted: 0, refused: 0 }
        yield* rounds(
          "mint and become main",
          (_, lane) =>
            Effect.gen(function* () {
              const at = projects[lane]
              if (at === undefined) return ["there is no such lane"]
              const way = at.ways[(yield* Random.nextBoolean) ? "default" : "protected"]
              const [became, reader, ...writers] = yield* race<unknown, unknown, never>([
                way.become,
                at.read,
                at.write,
                at.write,
                at.write
              ])
              outcomes.minted += writers.filter(Result.isSuccess).length
              outcomes.refused += writers.filter(Result.isFailure).length
              const wrong = yield* judged(at)
              yield* workedOff(at.branch)
              yield* way.cease
              return [
                ...wrong,
                ...(became !== undefined && Result.isSuccess(became) ? [] : ["becoming main was refused"]),
                ...(reader !== undefined && Result.isSuccess(reader) ? [] : ["an agent could not read"])
              ]
            }),
          { outcomes }
        )
      }),
    patience
  )
})
