/** The server reads its environment in one place, so that the list of settings is the whole of it. */
import { globSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"

const sources = resolve(import.meta.dirname, "../../src")

/** Ways to read a variable: Effect's `Config`, and Node's. */
const reading =
  /import \{[^}]*\bConfig(Provider)?\b[^}]*\} from "effect"|\bprocess\.env\b|import \{[^}]*\benv\b[^}]*\} from "node:process"/

const readers = (pattern: string) =>
  globSync(pattern, { cwd: sources }).filter((file) => reading.test(readFileSync(resolve(sources, file), "utf8")))

describe("the environment of the server", () => {
  it("only the settings read the environment of the server", () => {
    assert.isNotEmpty(readers("settings/**/*.ts"), "the search finds what reads it")
    assert.deepStrictEqual(
      readers("**/*.ts").filter((file) => !file.startsWith("settings/")),
      []
    )
  })
})
