/** The guide that says what a branch does not offer, compared with what a branch does. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { isSqlError } from "effect/sql/SqlError"
import { blocksRunBy } from "../../../test/support/documentedBlocks.ts"
import { as, isDenied, open, runningBranch } from "./runningBranch.ts"
import { kinds } from "./support.ts"

const page = readFileSync(join(import.meta.dirname, "../../../docs/guides/not-offered.md"), "utf8")

/** The rows that begin with a statement: it and its SQLSTATE. */
const refused = [...page.matchAll(/^\| `([A-Z][^`]+)` \| ([0-9A-Z]{5}) \|/gm)].map(
  ([, statement = "", sqlstate = ""]) => [statement, sqlstate] as const
)

/** The SQLSTATE of a failure; the driver keeps Postgres's error as the cause. */
const sqlstateOf = (error: unknown) => {
  const cause = isSqlError(error) ? error.reason.cause : undefined
  return cause instanceof Error && "code" in cause ? cause.code : undefined
}

describe("the guide to what a branch does not offer", () => {
  it("the guide to what a branch does not offer names at least ten statements", () => {
    assert.isAtLeast(refused.length, 10)
  })
})

for (const kind of [0, 1] as const) {
  const { choice, tag } = kinds[kind]
  describe(`a branch on the ${choice} Postgres`, { tags: [tag] }, () => {
    layer(runningBranch(kind), { excludeTestServices: true, timeout: 120_000 })((it) => {
      it.effect(`the ${choice} Postgres refuses each statement of the guide with its SQLSTATE`, () =>
        Effect.gen(function* () {
          const sql = yield* open("writer")
          const found: Array<readonly [string, unknown]> = []
          for (const [statement] of refused)
            found.push([statement, sqlstateOf(yield* Effect.flip(sql.unsafe(statement)))])
          assert.deepStrictEqual(found, refused as ReadonlyArray<readonly [string, unknown]>)
        }).pipe(Effect.scoped)
      )

      it.effect(`the statements of the guide list the extensions of the ${choice} Postgres`, () =>
        Effect.gen(function* () {
          for (const { text } of blocksRunBy("packages/local-postgres/test/notOffered.test.ts"))
            for (const statement of text.split(";").filter((part) => part.trim() !== ""))
              assert.isNotEmpty(yield* as("writer", statement))
          yield* as("writer", "CREATE EXTENSION pg_trgm", "CREATE EXTENSION pgcrypto")
        })
      )

      it.effect(`a read-only credential of the ${choice} Postgres makes no temporary table, lock or notification`, () =>
        Effect.gen(function* () {
          yield* isDenied("reader", "CREATE TEMPORARY TABLE t (id int)")
          yield* isDenied("reader", "SELECT pg_advisory_lock(1)")
          yield* isDenied("reader", "SELECT pg_notify('a', '')")
        })
      )
    })
  })
}
