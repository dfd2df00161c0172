/**
 * Which cells of the matrix run.
 *
 * `all`: every cell. `spread`: each answer of a call once per caller, and answers that depend on the object (successes and
 * 404) also once per object. `once`: each answer of a call once, and successes and 404 also once per object.
 */
import { expected, type Side, sidesOf } from "./expectation.ts"
import { type Principal, principals } from "./principals.ts"
import type { Call, Row } from "./rows/cells.ts"

export type Selection = "all" | "spread" | "once"

export interface Selected {
  readonly call: Call
  readonly principal: Principal
  readonly sides: ReadonlyArray<Side>
}

const allSides = (call: Call): ReadonlyArray<Selected> =>
  principals.map((principal) => ({ call, principal, sides: sidesOf(call) }))

const someSides = (row: Row, call: Call, selection: "spread" | "once"): ReadonlyArray<Selected> => {
  const seen = new Set<string>()
  const isNew = (key: string) => !seen.has(key) && seen.add(key).has(key)
  return principals.map((principal) => {
    const sides = sidesOf(call).filter((side) => {
      const wanted = expected(row, call, principal, side)
      const ofCaller = isNew(selection === "once" ? wanted : `${wanted} to ${principal}`)
      const ofObject = (wanted === "2" || wanted === "404") && isNew(`${wanted} at ${side}`)
      return ofCaller || ofObject
    })
    return { call, principal, sides }
  })
}

/** The cells of a row. */
export const cellsOf = (row: Row, selection: Selection): ReadonlyArray<Selected> =>
  row.calls.flatMap((call) => (selection === "all" ? allSides(call) : someSides(row, call, selection)))

const known = principals.filter((principal) => principal !== "-" && principal !== "!")

/** Row 0: each known caller once per call, because a disabled account is refused before the path is read. */
export const disabledCellsOf = ({ calls }: Row, selection: Selection): ReadonlyArray<Selected> =>
  calls.flatMap((call, index) =>
    known
      .filter((principal) => selection === "all" || index === 0 || principal === "O" || principal === "KW")
      .map((principal) => ({ call, principal, sides: ["own"] }))
  )
