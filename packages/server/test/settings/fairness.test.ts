/** The page "Who may slow down whom" names every setting that limits or shares something, and no other. */
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { variablesOf } from "../../src/settings/Variable.ts"
import { variables } from "../../src/settings/variables.ts"

const page = readFileSync(resolve(import.meta.dirname, "../../../../docs/explanation/fairness.md"), "utf8")
const named = [...page.matchAll(/`(NARTHEX_[A-Z_]+\*?)[`=]/g)].map(([, name = ""]) => name)
const settings = variablesOf(variables).map(({ name }) => name)
const limiting = /^NARTHEX_(LIMIT|QUOTA)_|_(CONNECTIONS|PLACES)$|^NARTHEX_(CPU_GROUP|RATE_LIMITS)$/

/** A name on the page may end with `*` and stands for all that begin so. */
const covers = (name: string, setting: string) =>
  name.endsWith("*") ? setting.startsWith(name.slice(0, -1)) : name === setting

describe("the page of limits", () => {
  it("names every setting that limits or shares something", () => {
    const limits = settings.filter((name) => limiting.test(name))
    assert.isNotEmpty(limits)
    assert.deepStrictEqual(
      limits.filter((setting) => !named.some((name) => covers(name, setting))),
      []
    )
  })

  it("names only settings that there are", () => {
    assert.deepStrictEqual(
      named.filter((name) => !settings.some((setting) => covers(name, setting))),
      []
    )
  })
})
