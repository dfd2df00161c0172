/** Variables that look like settings and are none: docs/design/settings.md S3. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { goneVariables } from "../../src/settings/goneVariables.ts"
import { settingsTable } from "../../src/settings/settingsTable.ts"
import { type Env, inFile, load, secret } from "./environment.ts"

const warnings = (env: Env) => Effect.map(load(env), (settings) => settings.warnings)

describe("variables that are no settings", () => {
  it.effect("a setting that is gone is a warning that says what holds now", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* warnings({ NARTHEX_ROLES_DEADLINE: "5 minutes" }), [
        "NARTHEX_ROLES_DEADLINE is gone: a try to change the roles of a branch may take 1 minute."
      ])
    })
  )

  it.effect("every setting that is gone has a sentence, and is none of the settings", () =>
    Effect.gen(function* () {
      const names = [...goneVariables.keys()]
      const found = yield* warnings(Object.fromEntries(names.map((name) => [name, "1"])))
      assert.lengthOf(found, names.length)
      for (const sentence of found) assert.match(sentence, /^NARTHEX_[A-Z_]+ is gone: .+\.$/)
      for (const { name } of settingsTable) assert.isFalse(goneVariables.has(name), name)
    })
  )

  it.effect("a name with a typing error is a warning that names the setting", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* warnings({ NARTHEX_API_PROT: "4400" }), [
        "There is no setting NARTHEX_API_PROT. The nearest name is NARTHEX_API_PORT."
      ])
    })
  )

  it.effect("a name that is like no other is a warning, even below the name of a setting", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* warnings({ NARTHEX_COLOUR: "red", NARTHEX_API_PORT_OF_CALL: "Naxos" }), [
        "There is no setting NARTHEX_API_PORT_OF_CALL.",
        "There is no setting NARTHEX_COLOUR."
      ])
    })
  )

  it.effect("settings, secrets in files, and variables of tests and of the command line are no warning", () =>
    Effect.gen(function* () {
      const env = {
        NARTHEX_API_PORT: "0",
        NARTHEX_MASTER_SECRET_FILE: yield* inFile(secret),
        NARTHEX_TEST_SEED: "7",
        NARTHEX_URL: "http://127.0.0.1:4400",
        NARTHEX_API_KEY: "key"
      }
      assert.deepStrictEqual(yield* warnings(env), [])
    })
  )

  it.effect("a setting that is gone and empty is no warning, because it counts as not set", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* warnings({ NARTHEX_LIMIT_WAITS: "", PATH: "/bin" }), [])
    })
  )
})
