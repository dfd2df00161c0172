/** The mode of a set-up: what switches development providers off and limits on (docs/design/settings.md S5). */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { load, provider, providers } from "./environment.ts"

describe("the mode of a set-up", () => {
  it.effect.each([
    [{ NODE_ENV: "production" }],
    [{ NARTHEX_API_URL: "https://api.example.com" }],
    [{ NARTHEX_CONSOLE_URL: "https://console.example.com" }],
    [{ NARTHEX_TRUSTED_HOPS: "1" }],
    [{ NODE_ENV: "production", ...providers(provider) }]
  ])("npm start on loopback with %j is production: limits, and no development providers", ([environment]) =>
    Effect.gen(function* () {
      const { dev_providers, limits, mode } = yield* load(environment, true)
      assert.strictEqual(mode.name, "production")
      assert.isAtLeast(mode.because.length, 1)
      assert.isNull(dev_providers)
      assert.isNotNull(limits)
    })
  )

  it.effect("a URL on loopback does not make a set-up one for production", () =>
    Effect.gen(function* () {
      const near = { NARTHEX_API_URL: "http://localhost:4400", NARTHEX_CONSOLE_URL: "http://[::1]:4401" }
      assert.strictEqual((yield* load(near, true)).mode.name, "development")
    })
  )

  it.effect("where a provider is configured, development providers run only if they are asked for", () =>
    Effect.gen(function* () {
      assert.isNull((yield* load(providers(provider), true)).dev_providers)
      assert.isNotNull((yield* load({ ...providers(provider), NARTHEX_DEV_PROVIDERS: "true" }, true)).dev_providers)
    })
  )
})
