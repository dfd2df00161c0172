/**
 * Runs every cell of the matrix over HTTP, on one storage. Refusals change nothing, and at the end nothing is changed.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { apiOver, type StoragePorts } from "../support/apiOver.ts"
import { matrix } from "./matrix.ts"
import { columns, type Principal, principals } from "./principals.ts"
import type { Row } from "./rows/cells.ts"
import { runCall, Worlds } from "./runCall.ts"
import { changesOf } from "./untouched.ts"

const runRow = Effect.fnUntraced(function* (row: Row, who: ReadonlyArray<Principal>, disabled: boolean) {
  const pairs = row.calls.flatMap((call) => who.map((principal) => [call, principal] as const))
  const ran = yield* Effect.forEach(pairs, ([call, principal]) => runCall(row, call, principal, disabled), {
    concurrency: 8
  })
  return { count: ran.reduce((sum, it) => sum + it.count, 0), wrong: ran.flatMap((it) => it.wrong) }
})

/** The whole matrix over a storage. */
export const authorizationSuite = <E>(name: string, storage: Layer.Layer<StoragePorts, E>) => {
  const api = Worlds.layer.pipe(Layer.provideMerge(apiOver(storage, { access: { open_signup: false }, idle: true })))
  let cells = 0
  layer(api, { excludeTestServices: true, timeout: "120 seconds" })(`the matrix over ${name}`, (it) => {
    for (const row of matrix)
      it.effect(`row ${row.row}: ${row.says}`, () =>
        Effect.gen(function* () {
          assert.strictEqual(row.cells.split(" ").length, columns.length, "a cell for every column")
          const { count, wrong } = yield* runRow(row, principals, false)
          cells += count
          assert.deepStrictEqual(wrong, [])
        })
      )

    it.effect("row 0: every call below row 1, user disabled", () =>
      Effect.gen(function* () {
        const known = principals.filter((principal) => principal !== "-" && principal !== "!")
        for (const row of matrix.filter(({ row: it }) => it !== "1")) {
          const { count, wrong } = yield* runRow(row, known, true)
          cells += count
          assert.deepStrictEqual(wrong, [])
        }
      })
    )

    it.effect("no refusal changed anything", () =>
      Effect.gen(function* () {
        const { disabled, shared } = yield* Worlds
        assert.deepStrictEqual(yield* changesOf(shared), [])
        assert.deepStrictEqual(yield* changesOf(disabled), [])
        yield* Effect.sync(() => console.info(`${cells} cells of the matrix ran over ${name}.`))
      })
    )
  })
}
