import { assert, it } from "@effect/vitest"
import { KeyDigester } from "@narthex/core"
import { Effect, Redacted } from "effect"
import { bytes } from "../../../../test/harness/seed.ts"
import { nodeHmacSha256 } from "../../src/sessions/nodeHmac.ts"

it.effect("digests by Node and by Web Crypto are the same, so an embedded and a bundled server share a store", () =>
  Effect.gen(function* () {
    const pepper = { id: "p1", key: Redacted.make(new Uint8Array(bytes(32))) }
    const digests = KeyDigester.use((it) => it.digests(Redacted.make("nsk_a-secret")))
    assert.deepStrictEqual(
      yield* Effect.provide(digests, KeyDigester.layerBy(nodeHmacSha256, pepper, { ...pepper, id: "p0" })),
      yield* Effect.provide(digests, KeyDigester.layer(pepper, { ...pepper, id: "p0" }))
    )
  })
)
