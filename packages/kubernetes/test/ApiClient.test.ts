/** The client of the API: lists of many pages, and watches that nothing comes from (docs/design/kubernetes.md K24). */
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, layer } from "@effect/vitest"
import { accessOf } from "@narthex/kubernetes"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { eventually } from "../../../test/harness/eventually.ts"
import { openApiClient } from "../src/api/ApiClient.ts"
import { namespaces } from "../src/objects/resources.ts"
import { namespaces as stored } from "./support/api/resources.ts"
import { KubernetesDouble } from "./support/KubernetesDouble.ts"

const opened = Effect.gen(function* () {
  const kubernetes = yield* KubernetesDouble
  const client = yield* openApiClient(yield* accessOf(kubernetes.kubeconfig))
  const named = (name: string) =>
    kubernetes.store.create(stored, "", { metadata: { name, labels: { "kubernetes.io/metadata.name": name } } })
  return { client, kubernetes, named }
})

describe("the client of the API", { tags: ["openssl", "pod-addresses"] }, () =>
  layer(KubernetesDouble.layer)((it) => {
    it.effect("a list of many pages has each object once, and begins again when its pages expire", () =>
      Effect.gen(function* () {
        const { client, kubernetes, named } = yield* opened
        for (let n = 0; n < 1_100; n++) named(`many-${n}`)
        const names = Effect.map(client.list(namespaces, { namespace: null }), ({ items }) =>
          items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith("many-"))
        )
        const first = yield* names
        assert.deepStrictEqual([first.length, new Set(first).size], [1_100, 1_100])
        // The first page is answered; the second expires.
        kubernetes.faults.before({ verb: "list", resource: stored }, () => {
          kubernetes.faults.before({ verb: "list", resource: stored }, () => kubernetes.api.compact())
        })
        assert.lengthOf(yield* names, 1_100)
      })
    )

    it.effect("a watch that falls silent ends by its deadline, and what it missed is found by another list", () =>
      Effect.gen(function* () {
        const { client, kubernetes, named } = yield* opened
        const selection = { namespace: null, name: "late" }
        const found = yield* Effect.forkChild(
          client.awaited(namespaces, selection, ([object]) => (object === undefined ? undefined : "found"))
        )
        yield* eventually(
          "the watch",
          Effect.sync(() => kubernetes.api.watches.count > 0)
        )
        kubernetes.api.watches.silent = true
        named("late")
        // Nothing is left on the way.
        yield* Effect.promise(() => sleep(20))
        assert.isUndefined(found.pollUnsafe())
        yield* TestClock.adjust("5 minutes")
        const later = Effect.forever(
          Effect.andThen(
            TestClock.adjust("1 second"),
            Effect.promise(() => sleep(5))
          )
        )
        assert.strictEqual(yield* Effect.raceFirst(Fiber.join(found), later), "found")
        kubernetes.api.watches.silent = false
      })
    )
  })
)
