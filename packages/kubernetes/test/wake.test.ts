/** The whole way: the API makes a database on Kubernetes, and the proxy wakes it (docs/design/kubernetes.md K9, K11). */
import { assert, describe, layer } from "@effect/vitest"
import { ComputeDriver } from "@narthex/core"
import { Effect } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { proxied } from "../../../test/kubernetes/support/proxied.ts"
import { doubledComputes } from "./support/doubledComputes.ts"
import { KubernetesDouble } from "./support/KubernetesDouble.ts"

describe("a database on Kubernetes behind the proxy", { tags: ["openssl", "pod-addresses"] }, () =>
  layer(doubledComputes(), { excludeTestServices: true })((it) => {
    it.effect("a connection wakes the suspended database, which has its data, and a deletion removes it", () =>
      Effect.gen(function* () {
        const kubernetes = yield* KubernetesDouble
        const { remove, suspend, through } = yield* proxied(yield* ComputeDriver)
        yield* through("CREATE TABLE kept AS SELECT 1 AS n")
        yield* suspend
        assert.lengthOf(kubernetes.pods(), 0)
        assert.deepStrictEqual(yield* through("SELECT n FROM kept"), [{ n: 1 }])
        assert.lengthOf(kubernetes.pods(), 1)
        yield* remove
        yield* eventually(
          "the database to be removed",
          Effect.sync(() => kubernetes.clusters().length === 0 && kubernetes.pods().length === 0)
        )
        assert.deepStrictEqual(kubernetes.failures, [])
      })
    )
  })
)
