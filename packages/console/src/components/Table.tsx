/**
 * A table. Where there is no room for its columns it is a list of cards: `phone` says where a cell goes.
 *
 * Pitfall: leaving out the roles. A browser gives up the semantics of a table whose rows are a grid.
 */
import type { ComponentChildren } from "preact"

export interface Column {
  readonly head: string
  /** The head is for screen readers only, as for a column of buttons. */
  readonly quiet?: boolean
  readonly align?: "end"
  /** The place in a card: title, next to the title, a line with the head as label (default), or none. */
  readonly phone?: "title" | "aside" | "line" | "hidden"
}

export interface Row {
  readonly key: string
  /** One for each column. The first is the header of the row. */
  readonly cells: ReadonlyArray<ComponentChildren>
}

export interface TableProps {
  /** The name of the table, for screen readers. */
  readonly label: string
  readonly columns: ReadonlyArray<Column>
  readonly rows: ReadonlyArray<Row>
  /** Shown instead of a table without rows. */
  readonly empty?: ComponentChildren
  /** The id of the table, for a live region. */
  readonly id?: string
}

/** Spread, because a linter takes them for redundant. */
const roles = {
  table: { role: "table" },
  rowgroup: { role: "rowgroup" },
  row: { role: "row" },
  columnheader: { role: "columnheader" },
  rowheader: { role: "rowheader" },
  cell: { role: "cell" }
} as const

const classOf = ({ align, phone }: Column, first: boolean) =>
  `p-${phone ?? (first ? "title" : "line")}${align === "end" ? " end" : ""}`

export const Table = ({ columns, empty, id, label, rows }: TableProps) => (
  <div class="table" id={id}>
    {rows.length === 0 && empty !== undefined ? (
      empty
    ) : (
      <table {...roles.table} aria-label={label}>
        <thead {...roles.rowgroup}>
          <tr {...roles.row}>
            {columns.map(({ align, head, quiet }) => (
              <th key={head} {...roles.columnheader} scope="col" class={align}>
                {quiet === true ? <span class="hidden">{head}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody {...roles.rowgroup}>
          {rows.map(({ cells, key }) => (
            <tr key={key} {...roles.row}>
              {columns.map((column, index) =>
                index === 0 ? (
                  <th key={column.head} {...roles.rowheader} scope="row" class={classOf(column, true)}>
                    {cells[index]}
                  </th>
                ) : (
                  <td
                    key={column.head}
                    {...roles.cell}
                    class={classOf(column, false)}
                    data-label={column.quiet === true ? undefined : column.head}
                  >
                    {cells[index]}
                  </td>
                )
              )}
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </div>
)
