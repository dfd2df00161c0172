/** Work that a call in a host's transaction does outside of it (docs/design/library.md N45). */
import { assert, layer } from "@effect/vitest"
import { Transaction } from "@narthex/core"
import { anOrganization } from "@narthex/core/testing"
import { Effect } from "effect"
import { change, exists, logged, refusal, started, storage, within } from "./calls.ts"
import { hosts, inTransaction } from "./hosts.ts"

layer(storage, { excludeTestServices: true, timeout: "60 seconds" })("apart from a host's transaction", (it) => {
  it.effect("work commits by itself, and stays when the host rolls back", () =>
    Effect.gen(function* () {
      const host = yield* started(hosts.nodePostgres)
      const { apart, run } = yield* Transaction
      const [counted, undone] = [anOrganization(), anOrganization()]
      const work = inTransaction(host, (tx) =>
        Effect.gen(function* () {
          yield* within(tx, Effect.andThen(change(undone), apart(run(change(counted)))))
          assert.isTrue(yield* exists(counted))
          return yield* Effect.fail("the host's reason")
        })
      )
      assert.strictEqual(yield* refusal(work), "the host's reason")
      assert.deepStrictEqual([yield* exists(counted), yield* exists(undone)], [true, false])
      assert.deepStrictEqual(yield* logged(counted), [1])
    })
  )
})
