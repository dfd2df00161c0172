/** Sizes of endpoints, which are resources of pods (docs/design/kubernetes.md K26, docs/design/api.md A41). */
import { assert, describe, layer } from "@effect/vitest"
import { type BranchId, ComputeDriver, SizeCatalog } from "@narthex/core"
import { aBranchId, anEndpointId, largeSize, smallSize, testSizes } from "@narthex/core/testing"
import { Effect, Fiber, Option } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { type Fields, fieldsAt, listAt } from "./support/api/json.ts"
import { uidIn } from "./support/api/ObjectStore.ts"
import { clusters, pods } from "./support/api/resources.ts"
import { conditionOf } from "./support/cluster/Kubelet.ts"
import { doubledComputes, namespace, sessionAt } from "./support/doubledComputes.ts"
import { KubernetesDouble } from "./support/KubernetesDouble.ts"
import { oneBranch } from "./support/oneBranch.ts"

const both = (quantities: Fields) => ({ requests: quantities, limits: quantities })
const small = both({ cpu: "500m", memory: "1Gi" })
const large = both({ cpu: "2", memory: "4Gi" })

const running = oneBranch("read_write")

const podOf = (branch: BranchId) =>
  Effect.map(KubernetesDouble, ({ store }) => store.find(pods, namespace, `${branch}-1-1`))

const resourcesOf = (branch: BranchId) =>
  Effect.map(podOf(branch), (pod) => fieldsAt(listAt(pod, "spec", "containers")[0], "resources"))

describe("sizes of computes on Kubernetes", { tags: ["openssl", "pod-addresses"] }, () =>
  layer(doubledComputes(), { excludeTestServices: true })((it) => {
    it.effect("the only endpoint of a branch gets a pod of its size, and a repeated start keeps that pod", () =>
      Effect.gen(function* () {
        const { driver, open, start } = yield* running
        const next = (ahead: number, size = smallSize) => ({ ...start, generation: start.generation + ahead, size })
        yield* driver.start(next(1))
        assert.deepStrictEqual(yield* resourcesOf(start.branch_id), small)
        const larger = yield* driver.start(next(2, largeSize))
        assert.deepStrictEqual(yield* resourcesOf(start.branch_id), large)
        yield* open(larger)
        const pod = yield* podOf(start.branch_id)
        for (const again of [next(2, largeSize), next(2), next(3, largeSize)]) yield* driver.start(again)
        assert.deepStrictEqual(yield* podOf(start.branch_id), pod)
        yield* driver.deleteBranch(start.branch_id)
      })
    )

    it.effect("a server that another endpoint uses keeps its size until it starts again", () =>
      Effect.gen(function* () {
        const { driver, role, start } = yield* oneBranch("read_write")
        yield* driver.stop(start.endpoint_id)
        const first = { ...start, generation: 2, size: smallSize }
        const other = { ...start, endpoint_id: anEndpointId(), size: largeSize }
        const compute = yield* driver.start(first)
        const sql = yield* sessionAt(compute, role.minted.role, role.password)
        const session = sql.unsafe("SELECT pg_backend_pid()")
        const before = yield* session
        assert.strictEqual((yield* driver.start(other)).address, compute.address)
        assert.deepStrictEqual(yield* resourcesOf(start.branch_id), small)
        assert.deepStrictEqual(yield* session, before)
        for (const { endpoint_id } of [first, other]) yield* driver.stop(endpoint_id)
        yield* driver.start({ ...other, generation: 2 })
        assert.deepStrictEqual(yield* resourcesOf(start.branch_id), large)
        yield* driver.deleteBranch(start.branch_id)
      })
    )

    it.effect("a new branch has the default size, and its first pod may be of another", () =>
      Effect.gen(function* () {
        const driver = yield* ComputeDriver
        const { store } = yield* KubernetesDouble
        const branch_id = aBranchId()
        const create = driver.createBranch(branch_id, Option.none())
        yield* Effect.provideService(create, SizeCatalog, testSizes)
        const { spec } = store.read(clusters, namespace, `${branch_id}-1`)
        assert.deepStrictEqual(fieldsAt(spec, "resources"), small)
        const start = { branch_id, endpoint_id: anEndpointId(), generation: 1, roles: [] }
        yield* driver.start({ ...start, size: largeSize })
        assert.deepStrictEqual(yield* resourcesOf(branch_id), large)
        assert.lengthOf(yield* driver.running, 1)
        yield* driver.deleteBranch(branch_id)
      })
    )

    it.effect("a pod that no node takes is replaced by a smaller one", () =>
      Effect.gen(function* () {
        const { driver, start } = yield* oneBranch("read_write")
        const { kubelet } = yield* KubernetesDouble
        yield* driver.stop(start.endpoint_id)
        kubelet.hasRoom = false
        const waiting = Effect.map(podOf(start.branch_id), (pod) =>
          pod !== undefined && conditionOf(pod, "PodScheduled")["status"] === "False" ? pod : undefined
        )
        const crowded = yield* Effect.forkChild(driver.start({ ...start, generation: 2, size: largeSize }))
        yield* eventually(
          "the pod without a node",
          Effect.map(waiting, (pod) => pod !== undefined)
        )
        const pod = yield* podOf(start.branch_id)
        yield* Fiber.interrupt(crowded)
        const starting = yield* Effect.forkChild(driver.start({ ...start, generation: 3, size: smallSize }))
        yield* eventually(
          "another pod",
          Effect.map(waiting, (next) => next !== undefined && uidIn(next) !== uidIn(pod ?? {}))
        )
        kubelet.schedule()
        yield* Fiber.join(starting)
        assert.deepStrictEqual(yield* resourcesOf(start.branch_id), small)
        yield* driver.deleteBranch(start.branch_id)
      })
    )
  })
)
