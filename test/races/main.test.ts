/** An agent's writer never stays on a branch that becomes main at the moment of its minting. */
import { assert, layer } from "@effect/vitest"
import {
  Branches,
  BranchRoleStore,
  BranchStore,
  changes,
  Credentials,
  OperationRunner,
  Projects,
  type SessionCaller
} from "@narthex/core"
import { DateTime, Effect, Layer, Option, Result } from "effect"
import { patience, race, rounds } from "./support/rounds.ts"
import { workedOff } from "./support/workedOff.ts"
import { signIn, withKey, world } from "./support/world.ts"

const policy = changes("write", "change_projects", "branch")

const projectOf = (owner: SessionCaller) =>
  Effect.gen(function* () {
    const branches = yield* Branches
    const { branch: home, project } = yield* (yield* Projects).create(owner, { name: "p", region: null })
    const wanted = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: true }
    const { branch } = yield* branches.create(owner, project, wanted)
    yield* workedOff(branch)
    return { project, home, branch }
  })

layer(OperationRunner.layerManual.pipe(Layer.provideMerge(world)), { excludeTestServices: true })("main", (it) => {
  it.effect(
    "holds no valid writer that an agent minted, whichever way the branch became main",
    () =>
      Effect.gen(function* () {
        const branches = yield* Branches
        const { mint } = yield* Credentials
        const roles = yield* BranchRoleStore
        const store = yield* BranchStore
        const owner = yield* signIn("owner@example.com")
        const agent = yield* withKey(owner, owner.org_id, "agent")
        const projects = yield* Effect.forEach([0, 1, 2], () => projectOf(owner))
        const outcome = { minted: 0, refused: 0 }
        yield* rounds("mint beside becoming main", (_, lane) =>
          Effect.gen(function* () {
            const at = projects[lane]
            if (at === undefined) return ["there is no such lane"]
            const { branch, home, project } = at
            const byDefault = Math.random() < 0.5
            const become = byDefault
              ? branches.setDefault(owner, branch)
              : branches.change(owner, policy, branch, { protected: true })
            const write = mint(agent, project, branch, "read_write", null)
            const read = mint(agent, project, branch, "read_only", null)
            const [became, reader, ...writers] = yield* race<unknown, unknown, never>([
              become,
              read,
              write,
              write,
              write
            ])
            outcome.minted += writers.filter(Result.isSuccess).length
            outcome.refused += writers.filter(Result.isFailure).length
            const main = Option.exists(yield* store.find(project.id, branch.id), (it) => it.main)
            const valid = yield* roles.valid(branch.id, yield* DateTime.now)
            const left = valid.filter((role) => role.minted_by_agent && role.access === "read_write")
            yield* workedOff(branch)
            yield* byDefault
              ? branches.setDefault(owner, home)
              : branches.change(owner, policy, branch, { protected: false })
            return [
              ...(became !== undefined && Result.isSuccess(became) && main ? [] : ["it did not become main"]),
              ...(reader !== undefined && Result.isSuccess(reader) ? [] : ["an agent could not read"]),
              ...(left.length === 0 ? [] : [`${left.length} writers of agents are valid on main`])
            ]
          })
        )
        assert.isAbove(outcome.minted, 0, "some were before it")
        assert.isAbove(outcome.refused, 0, "some were after it")
      }),
    patience
  )
})
