/** The address of a compute that a wake returns, and its use for later clients. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { makeComputes, type ReachError, type Reached } from "../../src/compute/Computes.ts"
import type { Dialler } from "../../src/compute/connectCompute.ts"
import { withKeys } from "../../src/compute/logIn.ts"
import { makeAllowlistCache } from "../../src/control-plane/AllowlistCache.ts"
import { parsePeer } from "../../src/networks/Address.ts"
import { ProxyMetrics } from "../../src/outcomes/ProxyMetrics.ts"
import { usual } from "../support/clients.ts"
import { refusingCompute } from "../support/harness.ts"
import { endpoint_id, MemoryControlPlane, project_id } from "../support/MemoryControlPlane.ts"

const settings = { refresh: Duration.hours(1), max_stale: Duration.hours(1) }

const keys = { clientKey: Buffer.alloc(32), serverKey: Buffer.alloc(32) }
const login = withKeys({ startup: usual, keys, serverFinal: "", notices: [] })

describe("a suspended compute", () => {
  it.live("is woken again by a client that was resolved after the last wake, and not by one from before it", () =>
    Effect.gen(function* () {
      const address = yield* refusingCompute("28P01")
      const start = () => Promise.resolve(address)
      const control = yield* MemoryControlPlane.make({ generation: 1, running: false, address: "", start })
      const peer = parsePeer("127.0.0.1") ?? assert.fail("an address")
      let now = 0
      const { allowlists, computes } = yield* Effect.gen(function* () {
        const metrics = new ProxyMetrics(yield* Effect.context<never>())
        const allowlists = yield* makeAllowlistCache(settings, metrics)
        return { allowlists, computes: yield* makeComputes(allowlists, () => now, metrics) }
      }).pipe(Effect.provide(control.layer))
      const admitted = yield* allowlists.check({ endpoint_id, project_id, peer })
      const reach = (asked_at: number) =>
        Effect.gen(function* () {
          const dialler: Dialler = { compute: undefined }
          yield* Effect.addFinalizer(() => Effect.sync(() => dialler.compute?.socket.destroy()))
          const located = { compute: undefined, asked_at }
          const refused = Effect.callback<Reached, ReachError>((resume) =>
            Effect.sync(computes.reach(admitted, located, login, dialler, resume))
          )
          assert.strictEqual((yield* Effect.flip(refused))._tag, "ServerError")
          return control.wakes.length
        }).pipe(Effect.scoped)

      assert.strictEqual(yield* reach(0), 1)
      now = 500
      assert.strictEqual(yield* reach(0), 1, "resolved before the wake, it uses its result")
      assert.strictEqual(yield* reach(1), 2, "resolved after the wake, it wakes")
      assert.strictEqual(yield* reach(1), 2)
      now = 501 + 1_000
      assert.strictEqual(yield* reach(1), 3, "a result is used for a second")
    }).pipe(Effect.scoped)
  )
})
