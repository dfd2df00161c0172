/** The sizes of endpoints on the command line. Holds docs/design/cli.md C48. */
import { assert, describe, it } from "@effect/vitest"
import { testSizes } from "@narthex/core/testing"
import { Effect } from "effect"
import { onControlPlane, onControlPlaneWith } from "./support/onControlPlane.ts"

const onSizes = Effect.gen(function* () {
  const { run } = yield* onControlPlaneWith({ sizes: testSizes })
  const json = (args: ReadonlyArray<string>) =>
    Effect.map(run([...args, "-o", "json"]), ({ stderr, stdout }) => {
      assert.isNotEmpty(stdout, stderr)
      return JSON.parse(stdout)
    })
  return { run, json }
})

describe("size", () => {
  it.live("size list shows the catalog, and says so where there is none", () =>
    Effect.gen(function* () {
      const { json, run } = yield* onSizes
      const { stdout } = yield* run(["size", "list"])
      assert.match(stdout, /^SIZE +CPUS +MEMORY +DISK +DEFAULT\nsmall +0\.5 +1073741824 +21474836480 +yes\nlarge +2 /)
      assert.deepStrictEqual(yield* json(["size", "list"]), { sizes: testSizes })
      const without = yield* onControlPlane
      assert.match((yield* without.run(["size", "list"])).stderr, /There are no sizes/)
    }).pipe(Effect.scoped)
  )

  it.live("project create and endpoint create take a size, and endpoint set changes it", () =>
    Effect.gen(function* () {
      const { json, run } = yield* onSizes
      const shop = yield* json(["project", "create", "shop", "--size", "large", "--wait"])
      assert.strictEqual(shop.endpoint.size.name, "large")
      const one = ["--project", "shop"]
      const reader = yield* json(["endpoint", "create", "--size", "large", "--wait", ...one])
      assert.strictEqual(reader.endpoint.size.name, "large")
      const set = ["endpoint", "set", reader.endpoint.id, "--size", "small", ...one]
      assert.strictEqual((yield* run(set)).code, 2, "a change that may end connections is confirmed")
      assert.strictEqual((yield* json([...set, "--yes"])).endpoint.size.name, "small")
      const { stdout } = yield* run(["endpoint", "get", reader.endpoint.id, ...one])
      assert.match(stdout, /^size +small: 0\.5 CPU, 1 GiB of memory, 20 GiB of disk$/m)
      const unknown = yield* run(["project", "create", "shop", "--size", "huge"])
      assert.strictEqual(unknown.code, 1)
      assert.include(unknown.stderr, "The sizes are: small, large.")
    }).pipe(Effect.scoped)
  )
})
