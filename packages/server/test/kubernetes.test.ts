/** Which Kubernetes cluster a server uses, and the sentence when it can use none: docs/design/kubernetes.md K21, K25. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { ComputeDriver } from "@narthex/core"
import { ConfigProvider, Effect, Layer } from "effect"
import { namespaces } from "../../kubernetes/test/support/api/resources.ts"
import { KubernetesDouble } from "../../kubernetes/test/support/KubernetesDouble.ts"
import { layerKubernetes } from "../src/kubernetes.ts"

const options = { storage_class: "fast", snapshot_class: "fast", namespace: "of-a-server" }

/** The driver of a server with these variables. */
const driverIn = (variables: Record<string, string>, snapshot_class = "fast") =>
  Layer.build(Layer.fresh(layerKubernetes({ ...options, snapshot_class }))).pipe(
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(variables)))
  )

/** A file with the kubeconfig of the double. */
const kubeconfig = Effect.gen(function* () {
  const { kubeconfig: text, store } = yield* KubernetesDouble
  if (store.find(namespaces, "", options.namespace) === undefined)
    store.create(namespaces, "", { metadata: { name: options.namespace } })
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "narthex-kubeconfig-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true }))
  )
  const file = join(folder, "config")
  writeFileSync(file, text)
  return file
})

describe("NARTHEX_COMPUTE=kubernetes", { tags: ["openssl"] }, () =>
  layer(KubernetesDouble.layer, { excludeTestServices: true })((it) => {
    it.effect("the server uses the cluster that KUBECONFIG names", () =>
      Effect.gen(function* () {
        const services = yield* driverIn({ KUBECONFIG: yield* kubeconfig })
        const { running } = yield* Effect.provideContext(ComputeDriver, services)
        assert.deepStrictEqual(yield* running, [])
      })
    )

    it.effect("a server without a cluster, or in one that lacks something, names the reason", () =>
      Effect.gen(function* () {
        const none = yield* Effect.flip(driverIn({ HOME: "/nowhere" }))
        assert.include(none.message, "There is no kubeconfig")
        const lacking = yield* Effect.flip(driverIn({ KUBECONFIG: yield* kubeconfig }, "slow"))
        assert.include(lacking.message, "There is no volume snapshot class slow.")
      })
    )
  })
)
