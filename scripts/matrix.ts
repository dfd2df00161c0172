/** The table of the matrix in `docs/design/authorization.md`, from the rows whose cells are tested over HTTP. */
import { matrix } from "../packages/http/test/authorization/matrix.ts"
import { columns } from "../packages/http/test/authorization/principals.ts"
import type { Call, Row } from "../packages/http/test/authorization/rows/cells.ts"
import { markdownTable } from "./pages/markdownTable.ts"

/** The statuses of success of a row's calls. */
const successOf = ({ calls }: Row) => {
  const [only = 200, ...others] = new Set(calls.map(({ success = 200 }) => success))
  return others.length === 0 ? String(only) : "2xx"
}

/** A cell as the page has it: a status in place of `2`. */
const shown = (row: Row, cell: string) => cell.replace(/\b2\b/g, successOf(row)).replace("/", " / ")

/** The distinction of the calls of a row: by action, by kind of branch, or by name. */
const namings: ReadonlyArray<(call: Call) => string | undefined> = [
  ({ as }) => as,
  ({ on }) => on,
  ({ call }) => call.replace(/^.*\./, ""),
  ({ call }) => call
]

/** The names of some calls of a row, none of which another call of the row has. */
const namesOf = (row: Row, some: ReadonlyArray<Call>) =>
  namings
    .map((nameOf) => ({
      names: new Set(some.map(nameOf)),
      others: row.calls.filter((call) => !some.includes(call)).map(nameOf)
    }))
    .filter(({ names, others }) => !names.has(undefined) && !others.some((name) => names.has(name)))
    .map(({ names }) => [...names].join(", "))[0] ?? "some"

const cellOf = (row: Row, column: string, cell: string) => {
  const exceptions = new Set(row.calls.flatMap(({ except }) => except?.[column] ?? []))
  return [
    shown(row, cell),
    ...[...exceptions].map((other) => {
      const names = namesOf(
        row,
        row.calls.filter(({ except }) => except?.[column] === other)
      )
      return `${names}: ${shown(row, other)}`
    })
  ].join("; ")
}

const disabled = ["0", "every call below row 1, user disabled", "", ...columns.slice(1).map(() => "401")]

export const matrixTable = (): string =>
  markdownTable(
    ["#", "Call", ...columns],
    [
      disabled,
      ...matrix
        .toSorted((one, other) => one.row.localeCompare(other.row, "en", { numeric: true }))
        .map((row) => [
          row.row,
          row.says,
          ...row.cells.split(" ").map((cell, at) => cellOf(row, columns[at] ?? "", cell))
        ])
    ]
  )
