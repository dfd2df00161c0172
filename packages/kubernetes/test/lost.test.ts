/** Servers whose endpoints are all lost (docs/design/kubernetes.md K12). */
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, layer } from "@effect/vitest"
import { ComputeDriver } from "@narthex/core"
import { aBranchId, anEndpointId } from "@narthex/core/testing"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { eventually } from "../../../test/harness/eventually.ts"
import { uidIn } from "./support/api/ObjectStore.ts"
import { pods } from "./support/api/resources.ts"
import { doubledComputes, namespace } from "./support/doubledComputes.ts"
import { KubernetesDouble } from "./support/KubernetesDouble.ts"

/** Goes on with the driver's pauses, which are short, while the effect runs. */
const paused = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.raceFirst(
    effect,
    Effect.forever(
      Effect.andThen(
        TestClock.adjust("100 millis"),
        Effect.promise(() => sleep(10))
      )
    )
  )

describe("lost computes on Kubernetes", { tags: ["openssl", "pod-addresses"] }, () =>
  layer(doubledComputes())((it) => {
    it.effect(
      "a server that the operator has replaced ends within a minute, unless its endpoint is started again",
      () =>
        Effect.gen(function* () {
          const driver = yield* ComputeDriver
          const kubernetes = yield* KubernetesDouble
          const podOf = (branch: string) => kubernetes.store.find(pods, namespace, `${branch}-1-1`)
          const started = Effect.gen(function* () {
            const start = { branch_id: aBranchId(), endpoint_id: anEndpointId(), generation: 1, roles: [] }
            yield* driver.createBranch(start.branch_id, Option.none())
            yield* driver.start(start)
            const pod = podOf(start.branch_id) ?? {}
            kubernetes.store.delete(pods, pod)
            yield* eventually(
              "another pod",
              Effect.sync(() => {
                const next = podOf(start.branch_id)
                return next !== undefined && uidIn(next) !== uidIn(pod)
              })
            )
            return start
          })
          const [lost, found] = [yield* paused(started), yield* paused(started)]
          yield* paused(driver.start({ ...found, generation: 2 }))
          yield* TestClock.adjust("1 minute")
          yield* paused(
            eventually(
              "the end of the server",
              Effect.sync(() => podOf(lost.branch_id) === undefined)
            )
          )
          assert.isDefined(podOf(found.branch_id))
          yield* paused(driver.start({ ...lost, generation: 2 }))
          assert.lengthOf(yield* driver.running, 2)
        })
    )
  })
)
