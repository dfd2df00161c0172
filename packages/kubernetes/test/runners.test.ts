/**
 * Two runners on one branch, one of which has lost its claim, while the API server fails now and then: the branch is as
 * the latest calls have left it (docs/design/kubernetes.md K2, K14, K16).
 */
import { assert, describe, layer } from "@effect/vitest"
import { ComputeDriver, type ComputeFailed, ComputeFence } from "@narthex/core"
import { aBranchId, anEndpointId } from "@narthex/core/testing"
import { Context, Effect, Fiber, Layer, Option } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { times } from "../../../test/harness/long.ts"
import { note } from "../../../test/harness/note.ts"
import type { Fields } from "./support/api/json.ts"
import { nameIn } from "./support/api/ObjectStore.ts"
import { pods } from "./support/api/resources.ts"
import { driverOn, type Minted, mint, namespace, sessionAt } from "./support/doubledComputes.ts"
import { type Kubernetes, KubernetesDouble } from "./support/KubernetesDouble.ts"

type Driver = ComputeDriver["Service"]

const pick = <A>(list: ReadonlyArray<A>, or: A): A => list[Math.floor(Math.random() * list.length)] ?? or

/** Failures of a round. */
const mishaps: ReadonlyArray<(kubernetes: Kubernetes) => void> = [
  () => undefined,
  ({ faults }) => faults.loseAnswer({ verb: "patch" }),
  ({ faults }) => faults.loseAnswer({ verb: "delete" }),
  ({ faults }) => faults.loseAnswer({ verb: "create" }),
  ({ faults }) => faults.loseCall({ verb: "list" }),
  ({ faults }) => faults.answer({ times: 2 }, 503, 0),
  ({ faults }) => faults.answer({ verb: "watch" }, 410),
  ({ api }) => api.dropConnections(),
  ({ api }) => {
    api.watches.end()
    api.compact()
  }
]

/** As the runner: again, until it is carried out. */
const carriedOut = (call: Effect.Effect<unknown, ComputeFailed>) =>
  Effect.retry(call, { while: ({ retryable }) => retryable, times: 60 })

const world = Effect.gen(function* () {
  const kubernetes = yield* KubernetesDouble
  const runner = Effect.map(Layer.build(Layer.fresh(driverOn())), (built) => Context.get(built, ComputeDriver))
  const drivers: readonly [Driver, Driver] = [yield* runner, yield* runner]
  const [branch, parent, endpoint_id] = [aBranchId(), aBranchId(), anEndpointId()]
  for (const id of [branch, parent]) yield* drivers[0].createBranch(id, Option.none())
  return { kubernetes, drivers, branch, parent, endpoint_id, roles: [yield* mint(), yield* mint()] as const }
})

interface Left {
  readonly runs: boolean
  readonly generation: number
  readonly role: Minted
}

/** The runners agree, the server runs or does not, and exactly the role that was applied can log in. */
const isAsLeft = Effect.fnUntraced(function* (
  { branch, drivers, endpoint_id, kubernetes, roles }: Effect.Success<typeof world>,
  left: Left
) {
  for (const driver of drivers) {
    const own = (yield* driver.running).filter((it) => it.endpoint_id === endpoint_id)
    const generations = own.map((it) => it.generation)
    assert.deepStrictEqual(generations, left.runs ? [left.generation] : [])
    for (const compute of own)
      for (const each of roles) {
        const session = Effect.scoped(sessionAt(compute, each.minted.role, each.password))
        assert.strictEqual(yield* Effect.isSuccess(session), each === left.role)
      }
  }
  const isOurs = (pod: Fields) => nameIn(pod).startsWith(`${branch}-`)
  // New data run once before they hibernate.
  yield* eventually(
    "the pod, or its end",
    Effect.sync(() => kubernetes.store.list(pods, namespace).filter(isOurs).length === (left.runs ? 1 : 0))
  )
})

describe("two runners of a branch on Kubernetes", { tags: ["openssl", "pod-addresses"] }, () =>
  layer(KubernetesDouble.layer, { excludeTestServices: true })((it) => {
    it.effect("a branch is as the latest call of its operations left it, whatever a late runner asks for", () =>
      Effect.gen(function* () {
        const given = yield* world
        const { branch, drivers, endpoint_id, kubernetes, parent, roles } = given
        let [fence, generation, runs] = [0, 0, false]
        let role: Minted = roles[0]
        const calls = (driver: Driver) => {
          const start = { branch_id: branch, endpoint_id, generation, roles: [role.minted] }
          return {
            start: driver.start(start),
            stop: driver.stop(endpoint_id),
            applyRoles: driver.applyRoles(branch, start.roles),
            reset: driver.resetBranch(branch, parent)
          }
        }
        const names = ["start", "start", "stop", "applyRoles", "reset"] as const
        const outcomes: Record<string, number> = {}
        for (let round = 0; round < times(5, 150); round++) {
          const [latest, former] = Math.random() < 0.5 ? drivers : drivers.toReversed()
          if (latest === undefined || former === undefined) continue
          const late = pick(names, "stop")
          const lateCall = Effect.provideService(calls(former)[late], ComputeFence, fence)
          fence++
          const name = pick(names, "start")
          if (name === "start") generation++
          role = pick(roles, role)
          // From here on the former call is late.
          const asLatest = Effect.provideService(ComputeFence, fence)
          yield* carriedOut(asLatest(latest.applyRoles(branch, [role.minted])))
          const lost = yield* Effect.forkChild(Effect.exit(lateCall))
          pick(mishaps, () => undefined)(kubernetes)
          yield* carriedOut(asLatest(calls(latest)[name]))
          const ended = yield* Fiber.join(lost)
          const outcome = `late ${late} beside ${name}: ${ended._tag}`
          outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
          kubernetes.faults.clear()
          if (name !== "applyRoles") runs = name === "start"
          yield* isAsLeft(given, { runs, generation, role })
        }
        note(`late calls: ${JSON.stringify(outcomes)}`)
        assert.deepStrictEqual(kubernetes.failures, [])
      })
    )
  })
)
