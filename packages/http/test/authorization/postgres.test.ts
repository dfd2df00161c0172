/**
 * The matrix on one database: in the long form every cell; in the short form each answer of a call once, and successes
 * and 404 once for each object, because only those depend on what storage answers (`selection.ts`).
 */
import { layer } from "@effect/vitest"
import { PostgresStorage } from "@narthex/postgres"
import { Effect, Layer } from "effect"
import { afterAll } from "vitest"
import { long } from "../../../../test/harness/long.ts"
import { note } from "../../../../test/harness/note.ts"
import { testDatabase } from "../../../postgres/test/support/TestDatabase.ts"
import { authorizationApi, authorizationTests } from "./authorizationSuite.ts"

const api = authorizationApi(PostgresStorage.layer.pipe(Layer.provide(testDatabase)))
let cells = 0

layer(api, { excludeTestServices: true, timeout: "120 seconds" })("the matrix over Postgres", (it) => {
  for (const { run, says } of authorizationTests(long ? "all" : "once"))
    it.effect(says, () =>
      Effect.map(run, (count) => {
        cells += count
      })
    )
  afterAll(() => note(`${cells} cells of the matrix ran over Postgres.`))
})
