/** An agent's change of an endpoint is decided again when its branch becomes main at the same moment. */
import { assert, layer } from "@effect/vitest"
import {
  type AnyCaller,
  Branches,
  changes,
  type Endpoint,
  EndpointStore,
  Endpoints,
  OperationRunner,
  type Project,
  Projects,
  type SessionCaller
} from "@narthex/core"
import { Effect, Layer, Option, Random, Result } from "effect"
import { inOrder } from "./support/inOrder.ts"
import { patience, race, rounds } from "./support/rounds.ts"
import { workedOff } from "./support/workedOff.ts"
import { signIn, withKey, world } from "./support/world.ts"

const policy = changes("write", "change_projects", "branch")
const byAgents = { agent: "made_by_agent" } as const
const offMain = { agent: "not_main" } as const

/** A branch that an agent made, with an endpoint, and the ways in which it becomes main and ceases to be main. */
const projectOf = (owner: SessionCaller) =>
  Effect.gen(function* () {
    const branches = yield* Branches
    const agent = yield* withKey(owner, owner.org_id, "agent")
    const { branch: home, project } = yield* (yield* Projects).create(owner, { name: "p", region: null })
    const wanted = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: true }
    const { branch, endpoint } = yield* branches.create(agent, project, wanted)
    yield* workedOff(branch)
    const protect = (it: boolean) => Effect.asVoid(branches.change(owner, policy, branch, { protected: it }))
    return {
      agent,
      branch,
      project,
      endpoint: endpoint ?? assert.fail("no endpoint"),
      ways: {
        default: {
          become: Effect.asVoid(branches.setDefault(owner, branch)),
          cease: Effect.asVoid(branches.setDefault(owner, home))
        },
        protected: { become: protect(true), cease: protect(false) }
      }
    }
  })

type Call = (
  agent: AnyCaller,
  project: Project,
  endpoint: Endpoint
) => Effect.Effect<unknown, { readonly _tag: string }, Endpoints>

const calls: Record<"PATCH" | "DELETE" | "suspend" | "create", Call> = {
  PATCH: (agent, project, endpoint) =>
    Endpoints.use(({ change }) => change(agent, byAgents, project, endpoint, { disabled: true })),
  DELETE: (agent, project, endpoint) => Endpoints.use(({ remove }) => remove(agent, byAgents, project, endpoint)),
  suspend: (agent, project, endpoint) => Endpoints.use(({ bring }) => bring(agent, offMain, project, endpoint, "idle")),
  create: (agent, project, { branch_id }) =>
    Endpoints.use(({ create }) =>
      create(agent, project, { branch_id, type: "read_only", suspend_timeout_seconds: null })
    )
}

const stored = ({ id }: Endpoint) => Effect.flatMap(EndpointStore, (store) => store.findAnywhere(id))

layer(OperationRunner.layerManual.pipe(Layer.provideMerge(world)), { excludeTestServices: true })(
  "agents and endpoints",
  (it) => {
    for (const way of ["default", "protected"] as const)
      for (const [name, call] of Object.entries(calls))
        it.effect(`an agent's ${name} of an endpoint that waits for its branch to become ${way} is refused`, () =>
          Effect.gen(function* () {
            const at = yield* projectOf(yield* signIn(`${name}-${way}@example.com`))
            const { first, others } = yield* inOrder(at.ways[way].become, [call(at.agent, at.project, at.endpoint)])
            assert.isTrue(Result.isSuccess(first), "the branch becomes main")
            assert.deepStrictEqual(
              others.map((it) => (Result.isSuccess(it) ? "done" : it.failure._tag)),
              ["Refused"]
            )
            assert.isTrue(Option.exists(yield* stored(at.endpoint), ({ disabled }) => !disabled))
          })
        )

    it.effect(
      "an agent changes no endpoint of a branch that became main, whatever came first",
      () =>
        Effect.gen(function* () {
          const at = yield* projectOf(yield* signIn("free@example.com"))
          const outcomes = { changed: 0, refused: 0 }
          const round = Effect.gen(function* () {
            const way = at.ways[(yield* Random.nextBoolean) ? "default" : "protected"]
            const { agent, branch, endpoint, project } = at
            const [became, ...tried] = yield* race<unknown, { readonly _tag: string }, Endpoints>([
              way.become,
              calls.PATCH(agent, project, endpoint),
              calls.suspend(agent, project, endpoint)
            ])
            const after = yield* Effect.result(calls.PATCH(agent, project, endpoint))
            outcomes.changed += tried.filter(Result.isSuccess).length
            outcomes.refused += tried.filter(Result.isFailure).length
            const unexpected = tried.flatMap((it) =>
              Result.isFailure(it) && it.failure._tag !== "Refused" ? [it.failure._tag] : []
            )
            yield* workedOff(branch)
            yield* way.cease
            return [
              ...(became !== undefined && Result.isSuccess(became) ? [] : ["becoming main was refused"]),
              ...(Result.isFailure(after) && after.failure._tag === "Refused" ? [] : ["an agent changed main"]),
              ...unexpected
            ]
          })
          yield* rounds("change an endpoint and become main", () => round, { lanes: 1, outcomes })
        }),
      patience
    )
  }
)
