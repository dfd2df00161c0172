/** The driver on a real Kubernetes cluster. Clusters of an earlier run are removed before, and those of this one afterwards. */
import { findAccess, KubernetesComputeDriver, KubernetesOptions } from "@narthex/kubernetes"
import { Effect, Layer, Schema } from "effect"
import { openApiClient } from "../../../packages/kubernetes/src/api/ApiClient.ts"
import { isConflict } from "../../../packages/kubernetes/src/api/ApiFailure.ts"
import { label } from "../../../packages/kubernetes/src/objects/names.ts"
import { clusters, snapshots } from "../../../packages/kubernetes/src/objects/resources.ts"

/** The installation of tests. No other has this name. */
const installation = "narthex-test"

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(KubernetesOptions))

export const clusterComputes = Layer.unwrap(
  Effect.gen(function* () {
    const given = yield* decode(process.env["NARTHEX_TEST_KUBERNETES"] ?? "{}")
    const access = yield* findAccess(process.env)
    const client = yield* openApiClient(access)
    const options = { ...given, installation }
    const selection = {
      namespace: options.namespace ?? "narthex-computes",
      labels: { [label.installation]: installation }
    }
    const clean = Effect.gen(function* () {
      for (const cluster of (yield* client.list(clusters, selection)).items) yield* client.remove(clusters, cluster)
      for (const snapshot of (yield* client.list(snapshots, selection)).items) yield* client.remove(snapshots, snapshot)
      yield* client.awaited(clusters, selection, (left) => (left.length === 0 ? "none" : undefined))
    }).pipe(Effect.retry({ while: isConflict, times: 100 }))
    yield* clean
    yield* Effect.addFinalizer(() => Effect.ignore(clean))
    return KubernetesComputeDriver.layer({ ...options, access })
  })
)
