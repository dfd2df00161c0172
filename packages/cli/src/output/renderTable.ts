/**
 * Tables as text (docs/design/cli.md C10, C32). On a terminal instants are relative, sizes have a unit, state words
 * have a colour, and cells are cut until a line fits: ids of other
 * things first, then the widest columns, and the own id of a row last, because commands need it. Elsewhere every value
 * is whole.
 */
import { sizeText } from "@narthex/api"
import { relativeTime } from "./relativeTime.ts"
import { Bytes, type Cell, Instant, printable, type Table } from "./table.ts"
import { cut, cutMiddle, padded, textWidth } from "./textWidth.ts"
import { isState, painted } from "./tones.ts"

export interface TableView {
  /** The columns of the terminal; lines are not cut without it. */
  readonly width?: number | undefined
  /** The present in milliseconds, on a terminal. Without it instants are not relative, and sizes are in bytes. */
  readonly now?: number | undefined
  readonly colour?: boolean
}

/** Returns `undefined` for a table without rows. */
export const renderTable = (table: Table, view: TableView = {}): string | undefined => {
  switch (table._tag) {
    case "Rows":
      return table.rows.length === 0 ? undefined : rowLines(table.heads, table.rows, view).join("\n")
    case "Facts":
      return factLines(table.facts, view).join("\n")
    case "Sentence":
      return printable(table.sentence)
    case "Raw":
      return table.text
  }
}

const gap = "  "

const rowLines = (
  heads: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<Cell>>,
  view: TableView
): ReadonlyArray<string> => {
  const texts = rows.map((row) => row.map((cell) => cellText(cell, view)))
  const columns = heads.map((head, column) => [head.toUpperCase(), ...texts.map((row) => row[column] ?? "-")])
  const fitting = fitted(columns, view.width, heads.indexOf("id"))
  const widths = fitting.map((cells) => Math.max(...cells.map(textWidth)))
  return [...Array(rows.length + 1).keys()].map((line) =>
    fitting
      .map((cells, column) => {
        const cell = cells[line] ?? ""
        const text = column === fitting.length - 1 ? cell : padded(cell, widths[column] ?? 0)
        const isWord = view.colour === true && line > 0 && isState(heads[column] ?? "")
        return isWord ? painted(cell, text) : text
      })
      .join(gap)
  )
}

const factLines = (
  facts: ReadonlyArray<readonly [name: string, value: Cell]>,
  view: TableView
): ReadonlyArray<string> => {
  const column = Math.max(...facts.map(([name]) => textWidth(name)))
  return facts.map(([name, value]) => {
    const text = factText(value, view)
    return `${padded(name, column)}${gap}${view.colour === true && isState(name) ? painted(text, text) : text}`
  })
}

const cellText = (cell: Cell, { now }: TableView): string => {
  if (cell === null || cell === undefined || cell === "") return "-"
  if (now !== undefined && cell instanceof Instant) return relativeTime(cell.millis, now)
  if (now !== undefined && cell instanceof Bytes) return sizeText(cell.bytes)
  return printable(String(cell))
}

/** A line of its own has room for both forms. */
const factText = (cell: Cell, view: TableView): string => {
  const short = cellText(cell, view)
  if (view.now !== undefined && cell instanceof Instant)
    return cell.iso.startsWith(short) ? cell.iso : `${cell.iso} (${short})`
  return view.now !== undefined && cell instanceof Bytes && cell.bytes >= 1000 ? `${short} (${cell.bytes} B)` : short
}

/** Ids with a prefix, and UUIDs. */
const id = /^(?:[a-z]{2,4}-[0-9a-z]{20,}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$/

const shortId = 14
const narrowest = 4

/** Cuts cells until a line has at most `width` columns: ids, then the widest column again and again; the `own` id last. */
const fitted = (
  columns: ReadonlyArray<ReadonlyArray<string>>,
  width: number | undefined,
  own: number
): ReadonlyArray<ReadonlyArray<string>> => {
  const lineWidth = (parts: ReadonlyArray<ReadonlyArray<string>>) =>
    parts.reduce((sum, cells) => sum + Math.max(...cells.map(textWidth)), gap.length * (parts.length - 1))
  if (width === undefined || lineWidth(columns) <= width) return columns
  const short = columns.map((cells, column) =>
    cells.map((cell) => (column !== own && id.test(cell) ? cutMiddle(cell, shortId) : cell))
  )
  const widths = short.map((cells) => Math.max(...cells.map(textWidth)))
  let excess = lineWidth(short) - width
  while (excess > 0) {
    const others = Math.max(...widths.filter((_, column) => column !== own))
    const widest = others > narrowest ? widths.findIndex((size, column) => column !== own && size === others) : own
    if ((widths[widest] ?? 0) <= narrowest) break
    widths[widest] = (widths[widest] ?? 0) - 1
    excess -= 1
  }
  return short.map((cells, column) => cells.map((cell) => cut(cell, widths[column] ?? 0)))
}
