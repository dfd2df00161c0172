/** The driver goes on through what an API server does to its clients (docs/design/kubernetes.md K24). */
import { assert, describe, layer } from "@effect/vitest"
import { ComputeDriver } from "@narthex/core"
import { aBranchId, anEndpointId } from "@narthex/core/testing"
import { Effect, Fiber, Option } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { clusters, pods } from "./support/api/resources.ts"
import { doubledComputes } from "./support/doubledComputes.ts"
import { type Kubernetes, KubernetesDouble } from "./support/KubernetesDouble.ts"

const suspended = Effect.gen(function* () {
  const driver = yield* ComputeDriver
  const start = { branch_id: aBranchId(), endpoint_id: anEndpointId(), generation: 1, roles: [] }
  yield* driver.createBranch(start.branch_id, Option.none())
  yield* driver.start(start)
  yield* driver.stop(start.endpoint_id)
  return { driver, start: { ...start, generation: 2 } }
})

/** Starts a compute, disturbs the driver while it waits for the pod, and awaits the start. */
const disturbed = (disturb: (kubernetes: Kubernetes) => void) =>
  Effect.gen(function* () {
    const kubernetes = yield* KubernetesDouble
    const { driver, start } = yield* suspended
    kubernetes.operator.pause()
    const starting = yield* Effect.forkChild(driver.start(start))
    yield* eventually(
      "the driver to watch",
      Effect.sync(() => kubernetes.api.watches.count > 0)
    )
    disturb(kubernetes)
    kubernetes.operator.resume()
    const compute = yield* Fiber.join(starting)
    assert.strictEqual(compute.generation, 2)
    yield* driver.stop(start.endpoint_id)
  })

describe("outages of the API server", { tags: ["openssl"] }, () =>
  layer(doubledComputes(), { excludeTestServices: true })((it) => {
    it.effect("a start goes on when its watches end, also where what they missed is not kept any more", () =>
      disturbed(({ api }) => {
        api.watches.silent = true
        api.watches.end()
        api.watches.silent = false
        api.compact()
      })
    )

    it.effect("a start goes on when all connections are cut", () => disturbed(({ api }) => api.dropConnections()))

    it.effect("a start goes on when lists and watches are refused for a while", () =>
      disturbed(({ api, faults }) => {
        faults.answer({ verb: "list", resource: pods, times: 2 }, 503, 0)
        faults.answer({ verb: "watch", resource: pods, times: 2 }, 500)
        faults.answer({ verb: "watch", resource: pods }, 410)
        faults.loseCall({ verb: "list", resource: pods })
        api.dropConnections()
      })
    )

    it.effect("a change that another change came before is made again, on what is there then", () =>
      Effect.gen(function* () {
        const kubernetes = yield* KubernetesDouble
        const { driver, start } = yield* suspended
        const cluster = () => kubernetes.store.read(clusters, "computes", `${start.branch_id}-1`)
        kubernetes.faults.before({ verb: "patch", resource: clusters }, () => {
          const { metadata } = cluster()
          assert.isObject(metadata)
          kubernetes.store.update(clusters, cluster(), (it) => ({
            ...it,
            spec: { ...Object(it["spec"]), logLevel: "debug" }
          }))
        })
        yield* driver.start(start)
        assert.deepInclude(Object(cluster()["spec"]), { logLevel: "debug" })
        yield* driver.stop(start.endpoint_id)
      })
    )

    it.effect("a call that the server refuses for now is sent again", () =>
      Effect.gen(function* () {
        const { faults } = yield* KubernetesDouble
        const { driver, start } = yield* suspended
        faults.answer({ verb: "patch", resource: clusters, times: 2 }, 429, 0)
        yield* driver.start(start)
        faults.answer({ verb: "list", resource: clusters }, 503, 0)
        assert.isTrue((yield* driver.running).some(({ endpoint_id }) => endpoint_id === start.endpoint_id))
      })
    )

    it.effect("a start without room waits, says that it is busy, and is repeated", () =>
      Effect.gen(function* () {
        const { kubelet } = yield* KubernetesDouble
        const { driver, start } = yield* suspended
        kubelet.hasRoom = false
        const starting = yield* Effect.forkChild(driver.start(start))
        yield* eventually(
          "a pod that finds no room",
          Effect.map(KubernetesDouble, (it) => it.pods().some(isPending))
        )
        kubelet.schedule()
        assert.strictEqual((yield* Fiber.join(starting)).generation, 2)
      })
    )
  })
)

const isPending = (pod: object) => JSON.stringify(pod).includes("Unschedulable")
