/** Addresses of computes: those of pods, which end with them (docs/design/kubernetes.md K4, K8–K11, K13, K18). */
import { assert, describe, layer } from "@effect/vitest"
import { type BranchId, ComputeDriver } from "@narthex/core"
import { anEndpointId } from "@narthex/core/testing"
import { Clock, Context, Effect, Layer } from "effect"
import { MovableClock } from "../../../test/events/support/MovableClock.ts"
import { eventually } from "../../../test/harness/eventually.ts"
import { type Fields, fieldsAt, withAt } from "./support/api/json.ts"
import { nameIn, uidIn } from "./support/api/ObjectStore.ts"
import { clusters, pods, secrets } from "./support/api/resources.ts"
import { makeAuthority } from "./support/cluster/authority.ts"
import { conditionOf, decoded } from "./support/cluster/Kubelet.ts"
import { doubledComputes, driverOn, namespace, sessionAt } from "./support/doubledComputes.ts"
import { KubernetesDouble } from "./support/KubernetesDouble.ts"
import { oneBranch } from "./support/oneBranch.ts"

const running = oneBranch("read_write")

const podOf = (branch: BranchId) =>
  Effect.map(KubernetesDouble, (kubernetes): Fields => kubernetes.store.read(pods, namespace, `${branch}-1-1`))

const hourLater = Effect.sync(() => {
  const clock = new MovableClock()
  clock.stand(Date.now() + 3_600_000)
  return clock
})

const isReady = (pod: Fields) => conditionOf(pod, "Ready")["status"] === "True"

describe("addresses of computes on Kubernetes", { tags: ["openssl", "pod-addresses"] }, () =>
  layer(doubledComputes(), { excludeTestServices: true })((it) => {
    it.effect("an address that another pod has got leads nowhere", () =>
      Effect.gen(function* () {
        const former = yield* running
        yield* former.driver.stop(former.start.endpoint_id)
        const next = yield* oneBranch("read_write")
        assert.strictEqual(next.compute.address, former.compute.address)
        yield* next.open()
        assert.isTrue(yield* Effect.isFailure(next.open(former.compute)))
        assert.isTrue(yield* Effect.isFailure(former.open()))
        yield* next.driver.stop(next.start.endpoint_id)
      })
    )

    it.effect(
      "an authority that was renewed is read within an hour or at a start, and the former goes on until then",
      () =>
        Effect.gen(function* () {
          const { store } = yield* KubernetesDouble
          const { cluster, compute, driver, open, start } = yield* running
          const authority = Effect.map(driver.running, (all) => all.find((it) => it.endpoint_id === start.endpoint_id))
          const former = compute.reach?.tls?.ca
          assert.strictEqual((yield* authority)?.reach?.tls?.ca, former)
          const renew = Effect.gen(function* () {
            const secret = store.read(secrets, namespace, `${cluster}-ca`)
            const { cert } = yield* Effect.promise(() => makeAuthority(cluster, decoded(secret, "ca.key")))
            store.update(secrets, secret, (it) => withAt(it, ["data", "ca.crt"], btoa(cert)))
            return cert
          })
          const renewed = yield* renew
          yield* open(compute)
          const next = yield* Effect.provideService(authority, Clock.Clock, yield* hourLater)
          assert.strictEqual(next?.reach?.tls?.ca, renewed)
          assert.notStrictEqual(renewed, former)
          yield* open(next)
          const last = yield* renew
          const again = yield* driver.start({ ...start, generation: start.generation + 1 })
          assert.strictEqual(again.reach?.tls?.ca, last)
        })
    )

    it.effect("a compute whose pod was replaced does not count as running until it is started again", () =>
      Effect.gen(function* () {
        const kubernetes = yield* KubernetesDouble
        const { driver, open, start } = yield* running
        const pod = yield* podOf(start.branch_id)
        kubernetes.store.delete(pods, pod)
        yield* eventually(
          "another pod",
          Effect.sync(() =>
            kubernetes.pods().some((it) => nameIn(it) === nameIn(pod) && uidIn(it) !== uidIn(pod) && isReady(it))
          )
        )
        const runs = Effect.map(driver.running, (all) => all.some((it) => it.endpoint_id === start.endpoint_id))
        assert.isFalse(yield* runs)
        const again = yield* driver.start({ ...start, generation: start.generation + 1 })
        assert.isTrue(yield* runs)
        yield* open(again)
      })
    )

    it.effect("a server that has crashed is started in its pod, and its address stays", () =>
      Effect.gen(function* () {
        const { kubelet } = yield* KubernetesDouble
        const { open, start } = yield* running
        const pod = yield* podOf(start.branch_id)
        yield* Effect.promise(() => kubelet.serverOf(pod).kill())
        yield* eventually("the server", Effect.isSuccess(open()))
        assert.strictEqual(uidIn(yield* podOf(start.branch_id)), uidIn(pod))
      })
    )

    it.effect("the endpoints of a branch share a server, which ends with the last of them", () =>
      Effect.gen(function* () {
        const kubernetes = yield* KubernetesDouble
        const { compute, driver, open, start } = yield* running
        const other = { ...start, endpoint_id: anEndpointId() }
        assert.strictEqual((yield* driver.start(other)).address, compute.address)
        yield* driver.stop(start.endpoint_id)
        const own = Effect.map(driver.running, (all) => all.filter(({ branch_id }) => branch_id === start.branch_id))
        assert.deepStrictEqual(
          (yield* own).map(({ endpoint_id }) => endpoint_id),
          [other.endpoint_id]
        )
        yield* open()
        yield* driver.stop(other.endpoint_id)
        assert.deepStrictEqual(yield* own, [])
        assert.isFalse(kubernetes.pods().some((pod) => nameIn(pod).startsWith(`${start.branch_id}-`)))
      })
    )

    it.effect("a start with newer settings of the platform does not restart a server that runs", () =>
      Effect.gen(function* () {
        const { compute, open, start } = yield* running
        const resources = { requests: { cpu: "1", memory: "512Mi" } }
        const newer = Context.get(yield* Layer.build(Layer.fresh(driverOn({ resources }))), ComputeDriver)
        const pod = yield* podOf(start.branch_id)
        const other = { ...start, endpoint_id: anEndpointId() }
        assert.strictEqual((yield* newer.start(other)).address, compute.address)
        assert.strictEqual(uidIn(yield* podOf(start.branch_id)), uidIn(pod))
        yield* open()
        for (const { endpoint_id } of [start, other]) yield* newer.stop(endpoint_id)
        const { store } = yield* KubernetesDouble
        yield* newer.start({ ...start, generation: start.generation + 1 })
        const { spec } = store.read(clusters, namespace, `${start.branch_id}-1`)
        assert.deepStrictEqual(fieldsAt(spec, "resources"), { ...resources, limits: {} })
      })
    )

    it.effect("a stop ends the sessions that are open, and waits for none", () =>
      Effect.gen(function* () {
        const { compute, driver, role, start } = yield* running
        const sql = yield* sessionAt(compute, role.minted.role, role.password)
        yield* sql.unsafe("BEGIN")
        yield* driver.stop(start.endpoint_id)
        assert.isTrue(yield* Effect.isFailure(sql.unsafe("SELECT 1")))
      })
    )

    it.effect("the disk of a branch is measured while it runs", () =>
      Effect.gen(function* () {
        const { driver, start } = yield* running
        const own = Effect.map(driver.diskUsage, (all) => all.filter((it) => it.branch_id === start.branch_id))
        const [measured] = yield* own
        assert.isAbove(measured?.bytes ?? 0, 10_000_000)
        yield* driver.stop(start.endpoint_id)
        assert.deepStrictEqual(yield* own, [])
      })
    )

    it.effect("a deletion removes the cluster, its pod and its volume", () =>
      Effect.gen(function* () {
        const kubernetes = yield* KubernetesDouble
        const { driver, start } = yield* running
        yield* driver.deleteBranch(start.branch_id)
        assert.isUndefined(kubernetes.store.find(clusters, namespace, `${start.branch_id}-1`))
        const left = kubernetes.everything().filter((object) => nameIn(object).startsWith(start.branch_id))
        assert.deepStrictEqual(left.map(nameIn), [])
        yield* driver.deleteBranch(start.branch_id)
      })
    )
  })
)
