/** Cancel requests that proxies hand over: docs/design/proxy.md P49. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { cancelRequestedType } from "../../src/records/events/CancelNotice.ts"
import { ProxyRequests } from "../../src/services/proxy-requests/ProxyRequests.ts"
import { Core, logged } from "../memory/core.ts"

const key_hash = "5a".repeat(32)

const handOver = (client_address: string, times: number) =>
  Effect.flatMap(ProxyRequests, ({ cancel }) =>
    Effect.repeat(cancel({ key_hash, client_address }), { times: times - 1 })
  )

const told = Effect.map(logged, (events) => events.filter(({ type }) => type === cancelRequestedType))

describe("Handing over a cancel request", () => {
  it.effect("proxies learn the digest of the key and the client's address, and clients see no such event", () =>
    Effect.gen(function* () {
      yield* handOver("203.0.113.9", 1)
      const [event, ...others] = yield* told
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual(event?.data, { key_hash, client_address: "203.0.113.9" })
      assert.isTrue(event?.internal)
    }).pipe(Effect.provide(Core))
  )

  it.effect("requests of one network beyond 300 a minute add nothing to the log, and those of others do", () =>
    Effect.gen(function* () {
      for (const n of [1, 2]) yield* handOver(`2001:db8:1:${n}::1`, 200)
      assert.lengthOf(yield* told, 300)
      yield* handOver("2001:db8:2::1", 1)
      assert.lengthOf(yield* told, 301)
      yield* TestClock.adjust("2 minutes")
      yield* handOver("2001:db8:1:1::1", 1)
      assert.lengthOf(yield* told, 302)
    }).pipe(Effect.provide(Core))
  )

  it.effect("requests of all networks add at most 1,000 events a minute", () =>
    Effect.gen(function* () {
      for (let n = 0; n < 6; n++) yield* handOver(`198.51.${n}.1`, 200)
      assert.lengthOf(yield* told, 1_000)
    }).pipe(Effect.provide(Core))
  )
})
