import { existsSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { runNarthex, type Setting } from "./support/runNarthex.ts"
import { inAcme } from "./support/signedIn.ts"

const setUp = Effect.gen(function* () {
  const world = yield* inAcme()
  const { file, home, plane } = world
  const setting: Setting = { home, variables: { NARTHEX_URL: plane.url } }
  return { ...world, setting, stored: () => JSON.parse(readFileSync(file, "utf8")) }
})

describe("login --with-token", () => {
  it.live("login --with-token verifies the key on standard input, then stores it", () =>
    Effect.gen(function* () {
      const { addKey, setting, stored } = yield* setUp
      const key = yield* Effect.promise(() => addKey("from the console"))
      const run = yield* runNarthex(["login", "--with-token"], { ...setting, stdin: `${key.secret}\n` })
      assert.strictEqual(run.code, 0)
      assert.strictEqual(stored().contexts.default.secret, key.secret)
      assert.strictEqual(stored().contexts.default.key.name, "from the console")
    }).pipe(Effect.scoped)
  )

  it.live("login --with-token does not revoke a key that it stores again", () =>
    Effect.gen(function* () {
      const { addKey, keys, setting } = yield* setUp
      const key = yield* Effect.promise(() => addKey())
      yield* runNarthex(["login", "--with-token"], { ...setting, stdin: key.secret })
      yield* runNarthex(["login", "--with-token"], { ...setting, stdin: key.secret })
      assert.lengthOf(yield* keys, 1)
    }).pipe(Effect.scoped)
  )

  it.live("login --with-token stores no rejected key, and exits with 4", () =>
    Effect.gen(function* () {
      const { addKey, client, file, setting } = yield* setUp
      const { id, secret } = yield* Effect.promise(() => addKey())
      yield* Effect.promise(() => client.apiKeys.revoke({ api_key_id: id }))
      const run = yield* runNarthex(["login", "--with-token"], { ...setting, stdin: secret })
      assert.strictEqual(run.code, 4)
      assert.isFalse(existsSync(file))
    }).pipe(Effect.scoped)
  )

  it.live("login --with-token sends no malformed key, and exits with 2", () =>
    Effect.gen(function* () {
      const { addKey, plane, setting } = yield* setUp
      const { secret } = yield* Effect.promise(() => addKey())
      const changed = secret.replace(/.$/, (last) => (last === "0" ? "1" : "0"))
      const mistyped = yield* runNarthex(["login", "--with-token"], { ...setting, stdin: changed })
      assert.deepStrictEqual([mistyped.code, mistyped.stderr.includes("wrong checksum")], [2, true])
      assert.notInclude(mistyped.stderr, changed)
      for (const stdin of ["", "nsk_short", "hunter2", `${secret.slice(0, -1)}_`])
        assert.strictEqual((yield* runNarthex(["login", "--with-token"], { ...setting, stdin })).code, 2)
      assert.deepStrictEqual(plane.requests, [])
    }).pipe(Effect.scoped)
  )
})
