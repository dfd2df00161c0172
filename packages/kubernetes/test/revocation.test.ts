/** A revocation that is not done in time stops the server (docs/design/kubernetes.md K19). */
import { assert, describe, layer } from "@effect/vitest"
import { ComputeDriver } from "@narthex/core"
import { aBranchId, anEndpointId } from "@narthex/core/testing"
import { Context, Effect, Layer, Option } from "effect"
import { doubledComputes, driverOn, mint, sessionAt } from "./support/doubledComputes.ts"
import { KubernetesDouble } from "./support/KubernetesDouble.ts"

describe("revocations on Kubernetes", { tags: ["openssl", "pod-addresses"] }, () =>
  layer(doubledComputes(), { excludeTestServices: true })((it) => {
    it.effect("a server on which a role cannot be revoked in time stops, and starts without the role", () =>
      Effect.gen(function* () {
        const driver = yield* ComputeDriver
        const kubernetes = yield* KubernetesDouble
        const [kept, revoked] = [yield* mint(), yield* mint()]
        const roles = [kept.minted, revoked.minted]
        const start = { branch_id: aBranchId(), endpoint_id: anEndpointId(), generation: 1, roles }
        yield* driver.createBranch(start.branch_id, Option.none())
        const compute = yield* driver.start(start)
        const sql = yield* sessionAt(compute, revoked.minted.role, revoked.password)
        const hasty = yield* Layer.build(Layer.fresh(driverOn({ limits: { revoked_within: 0 } })))
        yield* Context.get(hasty, ComputeDriver).applyRoles(start.branch_id, [kept.minted])
        assert.isTrue(yield* Effect.isFailure(sql.unsafe("SELECT 1")))
        assert.deepStrictEqual([yield* driver.running, kubernetes.pods()], [[], []])
        const again = yield* driver.start({ ...start, generation: 2, roles: [kept.minted] })
        const opens = ({ minted, password }: typeof kept) =>
          Effect.isSuccess(Effect.scoped(sessionAt(again, minted.role, password)))
        assert.deepStrictEqual([yield* opens(kept), yield* opens(revoked)], [true, false])
      })
    )
  })
)
