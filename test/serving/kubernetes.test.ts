/**
 * The server with computes on Kubernetes: its settings, and its end where something is missing (docs/design/kubernetes.md
 * K21, K25).
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { namespaces } from "../../packages/kubernetes/test/support/api/resources.ts"
import { KubernetesDouble } from "../../packages/kubernetes/test/support/KubernetesDouble.ts"
import { eventually } from "../harness/eventually.ts"
import { emptyDirectory, ownAccount } from "../support/surroundings.ts"
import { ask, signIn } from "./support/ask.ts"
import { Program, run } from "./support/Program.ts"
import { Serving } from "./support/Serving.ts"

const namespace = "databases"

/** The settings of an instance, with a file for its kubeconfig. */
const settings = Effect.gen(function* () {
  const { environment } = yield* Serving
  const kubernetes = yield* KubernetesDouble
  const { path } = yield* Effect.acquireRelease(
    Effect.sync(() => emptyDirectory(ownAccount)),
    ({ remove }) => Effect.sync(remove)
  )
  const file = join(path, "kubeconfig")
  writeFileSync(file, kubernetes.kubeconfig)
  const options = {
    storage_class: "fast",
    snapshot_class: "fast",
    namespace,
    storage: "1Gi",
    image: kubernetes.image,
    platform_networks: ["127.0.0.0/8"]
  }
  const given = { NARTHEX_COMPUTE: "kubernetes", KUBECONFIG: file, NARTHEX_KUBERNETES: JSON.stringify(options) }
  return { environment: { ...environment, ...given }, options }
})

describe("a server with computes on Kubernetes", { tags: ["openssl", "pod-addresses"] }, () =>
  layer(Layer.merge(Serving.layer, KubernetesDouble.layer), { excludeTestServices: true })((it) => {
    it.effect("a server without the namespace and the classes ends before it has begun, with every reason", () =>
      Effect.gen(function* () {
        const { environment, options } = yield* settings
        const wrong = JSON.stringify({ ...options, storage_class: "absent", snapshot_class: "absent" })
        const { code, stderr } = yield* run("server", [], { ...environment, NARTHEX_KUBERNETES: wrong })
        assert.strictEqual(code, 1)
        assert.include(stderr, "There is no storage class absent.")
        assert.include(stderr, "There is no volume snapshot class absent.")
        const alone = yield* run("server", [], environment)
        assert.include(alone.stderr, `There is no namespace ${namespace}.`)
        const unread = yield* run("server", [], { ...environment, KUBECONFIG: "/nowhere/kubeconfig" })
        assert.include(unread.stderr, "/nowhere/kubeconfig")
      })
    )

    it.effect("a project of the API gets a cluster, which hibernates, and a start gives it a pod", () =>
      Effect.gen(function* () {
        const kubernetes = yield* KubernetesDouble
        kubernetes.store.create(namespaces, "", { metadata: { name: namespace } })
        const { environment } = yield* settings
        const { issuer } = yield* Serving
        const server = yield* Program.start("server", ["--roles", "api,runner"], environment)
        const url = server.address("api")
        const { token } = yield* signIn(url, issuer.idToken("ada@example.com"))
        const created = yield* ask(url, "POST", "/v1/projects", token, { name: "shop" })
        const endpoint = `/v1/projects/${created.body.project.id}/endpoints/${created.body.endpoint.id}`
        const isIn = (state: string) =>
          eventually(
            `the endpoint to be ${state}`,
            Effect.map(ask(url, "GET", endpoint, token), ({ body }) => body.endpoint.current_state === state)
          )
        yield* isIn("idle")
        assert.lengthOf(kubernetes.clusters(), 1)
        yield* ask(url, "POST", `${endpoint}/start`, token)
        yield* isIn("active")
        assert.lengthOf(kubernetes.pods(), 1)
        // Another instance, or this one after a crash, leaves the computes running.
        yield* Effect.promise(() => server.stop())
        assert.lengthOf(kubernetes.pods(), 1)
      })
    )
  })
)
