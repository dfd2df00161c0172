/** Namespaces of computes: one for all, or one for each organization (docs/design/kubernetes.md K22, K23). */
import { assert, describe, layer } from "@effect/vitest"
import { ComputeDriver, ComputeTenant, OrgId } from "@narthex/core"
import { aBranchId } from "@narthex/core/testing"
import { Effect, Layer, Option } from "effect"
import { listAt, textAt } from "./support/api/json.ts"
import { nameIn, namespaceIn } from "./support/api/ObjectStore.ts"
import { namespaces, networkPolicies } from "./support/api/resources.ts"
import { doubledComputes, driverOn } from "./support/doubledComputes.ts"
import { KubernetesDouble } from "./support/KubernetesDouble.ts"

const of = (org: string) => Effect.provideService(ComputeTenant, OrgId.make(org))

const homeOf = (branch: string) =>
  Effect.map(KubernetesDouble, (kubernetes) =>
    kubernetes
      .clusters()
      .filter((cluster) => nameIn(cluster).startsWith(branch))
      .map(namespaceIn)
  )

describe("namespaces of computes on Kubernetes", { tags: ["openssl", "pod-addresses"] }, () =>
  layer(doubledComputes({ per_organization: true }), { excludeTestServices: true })((it) => {
    it.effect("each organization has a namespace of its own, which admits the platform alone", () =>
      Effect.gen(function* () {
        const driver = yield* ComputeDriver
        const { store } = yield* KubernetesDouble
        const [one, other] = [aBranchId(), aBranchId()]
        yield* of("org-one")(driver.createBranch(one, Option.none()))
        yield* of("org-two")(driver.createBranch(other, Option.none()))
        const [[first = ""], [second = ""]] = [yield* homeOf(one), yield* homeOf(other)]
        assert.notStrictEqual(first, second)
        for (const name of [first, second]) {
          const policy = store.list(networkPolicies, name)[0]
          assert.deepStrictEqual(listAt(policy, "spec", "policyTypes"), ["Ingress", "Egress"])
          assert.notInclude(JSON.stringify(listAt(policy, "spec", "ingress")), '"from":[]')
          const labels = ["metadata", "labels", "pod-security.kubernetes.io/enforce"]
          assert.strictEqual(textAt(store.read(namespaces, "", name), ...labels), "restricted")
        }
      })
    )

    it.effect("a copy is in the namespace of its parent", () =>
      Effect.gen(function* () {
        const driver = yield* ComputeDriver
        const [parent, copy] = [aBranchId(), aBranchId()]
        yield* of("org-one")(driver.createBranch(parent, Option.none()))
        yield* of("org-one")(driver.createBranch(copy, Option.some(parent)))
        assert.deepStrictEqual(yield* homeOf(copy), yield* homeOf(parent))
      })
    )

    it.effect("objects of another installation are left alone", () =>
      Effect.gen(function* () {
        const driver = yield* ComputeDriver
        const branch = aBranchId()
        yield* of("org-one")(driver.createBranch(branch, Option.none()))
        const context = yield* Layer.build(Layer.fresh(driverOn({ per_organization: true, installation: "another" })))
        yield* Effect.provideContext(
          ComputeDriver.use((another) => another.deleteBranch(branch)),
          context
        )
        assert.lengthOf(yield* homeOf(branch), 1)
      })
    )
  })
)
