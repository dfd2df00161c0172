import { assert, describe, it } from "vitest"
import { postgresAskedFor, postgresPrograms } from "../testing/postgresPrograms.ts"

describe("the Postgres that tests run", () => {
  it("no kind of test Postgres is demanded by default", () => {
    assert.isUndefined(postgresAskedFor(""))
    assert.strictEqual(postgresAskedFor("npm"), "npm")
    assert.throws(() => postgresAskedFor("17"), 'NARTHEX_TEST_POSTGRES is "17"; it must be "system" or "npm".')
  })

  it("the test Postgres is the system's when that is demanded", { tags: ["system-postgres"] }, async () => {
    const { directory } = await postgresPrograms("system")
    assert.notInclude(directory, "narthex")
  })

  it("the test Postgres is the one of the lock file when that is demanded", { tags: ["npm-postgres"] }, async () => {
    const { directory } = await postgresPrograms("npm")
    assert.match(directory, /narthex.*\/bin$/)
  })
})
