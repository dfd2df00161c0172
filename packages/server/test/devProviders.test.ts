import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { startDevProviders } from "../src/devProviders.ts"

const plan = { ports: [0, 0], dataDir: "/nowhere", consoleUrl: "http://127.0.0.1:4401" } as const

/** The error that Node throws when the package of that name is not there. */
const notInstalled = (name: string, importer: string) => () =>
  Promise.reject(new Error(`Cannot find package '${name}' imported from ${importer}`))

describe("the development providers of a server", () => {
  it.effect("when their package is missing, the start fails with a sentence that says what to install", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        startDevProviders(plan, notInstalled("@narthex/dev-providers", "/app/devProviders.js"))
      )
      assert.strictEqual(error._tag, "DevProvidersMissing")
      assert.include(error.message, "npm install @narthex/dev-providers")
      assert.include(error.message, "NARTHEX_DEV_PROVIDERS=false")
    })
  )

  it.effect(
    "when the bundle of the server finds no identity provider to load, the start fails with the same sentence",
    () =>
      Effect.gen(function* () {
        const importer = "/app/node_modules/@narthex/server/dist/narthex-src.chunk.js"
        const error = yield* Effect.flip(startDevProviders(plan, notInstalled("oidc-provider", importer)))
        assert.strictEqual(error._tag, "DevProvidersMissing")
      })
  )

  it.effect("when a dependency of their package is missing, the failure is reported as it is", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(
        startDevProviders(
          plan,
          notInstalled("oidc-provider", "/app/node_modules/@narthex/dev-providers/dist/Issuer.js")
        )
      )
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    })
  )
})
