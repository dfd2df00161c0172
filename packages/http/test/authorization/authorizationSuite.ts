/**
 * The matrix as tests for one storage: a test for each row, and one for row 0. After a row, its refusals have changed
 * nothing in the worlds that they shared.
 */
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { apiOver, type Serving, type StoragePorts } from "../support/apiOver.ts"
import { matrix } from "./matrix.ts"
import type { Row } from "./rows/cells.ts"
import { runCall, Worlds } from "./runCall.ts"
import { cellsOf, disabledCellsOf, type Selected, type Selection } from "./selection.ts"
import { changesOf } from "./untouched.ts"

/** The API that rows run on, with the worlds of their refusals. */
export const authorizationApi = <E, R>(storage: Layer.Layer<StoragePorts, E, R>, serving: Serving = "server") =>
  Worlds.layer.pipe(Layer.provideMerge(apiOver(storage, { access: { open_signup: false }, idle: true, serving })))

/** How many cells ran. */
const runCells = Effect.fnUntraced(function* (row: Row, cells: ReadonlyArray<Selected>, disabled: boolean) {
  const runs = cells.map(({ call, principal, sides }) => runCall(row, call, principal, sides, disabled))
  const ran = yield* Effect.all(runs, { concurrency: 8 })
  assert.deepStrictEqual(
    ran.flatMap((it) => it.wrong),
    []
  )
  return ran.reduce((sum, it) => sum + it.count, 0)
})

/** Sentences and what shows them; each answers how many cells ran. */
export const authorizationTests = (selection: Selection) => [
  ...matrix.map((row) => ({
    says: `row ${row.row}: ${row.says}`,
    run: Effect.tap(runCells(row, cellsOf(row, selection), false), () => nothingChanged)
  })),
  {
    says: "row 0: every call below row 1, user disabled",
    run: Effect.gen(function* () {
      let cells = 0
      for (const row of matrix.filter(({ row: it }) => it !== "1"))
        cells += yield* runCells(row, disabledCellsOf(row, selection), true)
      yield* nothingChanged
      return cells
    })
  }
]

const nothingChanged = Effect.gen(function* () {
  const { disabled, shared } = yield* Worlds
  assert.deepStrictEqual(yield* changesOf(shared), [])
  assert.deepStrictEqual(yield* changesOf(disabled), [])
})
