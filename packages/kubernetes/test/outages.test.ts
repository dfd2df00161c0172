/** The driver goes on through what an API server does to its clients (docs/design/kubernetes.md K24). */
import { assert, describe, layer } from "@effect/vitest"
import { ComputeDriver } from "@narthex/core"
import { aBranchId, anEndpointId } from "@narthex/core/testing"
import { Effect, Fiber, Option } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { uidIn } from "./support/api/ObjectStore.ts"
import { clusters, pods, secrets } from "./support/api/resources.ts"
import { doubledComputes, namespace } from "./support/doubledComputes.ts"
import { type Kubernetes, KubernetesDouble } from "./support/KubernetesDouble.ts"

const [branch_id, endpoint_id] = [aBranchId(), anEndpointId()]
let generation = 0

/** The branch of all tests, which does not run, and its next start. */
const suspended = Effect.gen(function* () {
  const driver = yield* ComputeDriver
  if (generation === 0) yield* driver.createBranch(branch_id, Option.none())
  else yield* driver.stop(endpoint_id)
  generation++
  return { driver, start: { branch_id, endpoint_id, generation, roles: [] } }
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
    assert.strictEqual((yield* Fiber.join(starting)).generation, start.generation)
  })

describe("outages of the API server", { tags: ["openssl", "pod-addresses"] }, () =>
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
        const cluster = () => kubernetes.store.read(clusters, namespace, `${start.branch_id}-1`)
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

    it.effect("a start whose pod ends before its roles are applied goes on with the next pod", () =>
      Effect.gen(function* () {
        const { faults, store } = yield* KubernetesDouble
        const { driver, start } = yield* suspended
        const pod = () => store.find(pods, namespace, `${start.branch_id}-1-1`)
        const asked = faults.pause({ verb: "get", resource: secrets })
        const starting = yield* Effect.forkChild(driver.start(start))
        yield* Effect.promise(() => asked.reached)
        const former = pod()
        assert.isDefined(former)
        store.delete(pods, former ?? {})
        yield* eventually(
          "another pod",
          Effect.sync(() => uidIn(pod() ?? {}) !== uidIn(former ?? {}))
        )
        yield* Effect.sync(asked.release)
        const compute = yield* Fiber.join(starting)
        assert.deepInclude(yield* driver.running, compute)
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
        assert.strictEqual((yield* Fiber.join(starting)).generation, start.generation)
      })
    )
  })
)

const isPending = (pod: object) => JSON.stringify(pod).includes("Unschedulable")
