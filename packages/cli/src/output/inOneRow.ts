/** A line of progress, which is redrawn in place and therefore has one row of the terminal. */
import { printable } from "./table.ts"
import { cut, textWidth } from "./textWidth.ts"

/** On a narrow terminal `what` is cut, and `more` is not. */
export interface Progress {
  readonly what: string
  readonly more: string
}

/** The frame, its space, and a column that stays free, because a terminal breaks the line after the last one. */
const reserved = 3

/** The text behind the frame. `columns`: those of the terminal. */
export const inOneRow = (progress: string | Progress, columns: number | undefined): string => {
  const { more, what } = typeof progress === "string" ? { what: progress, more: "" } : progress
  const text = printable(what)
  return columns === undefined ? text + more : cut(text, Math.max(1, columns - reserved - textWidth(more))) + more
}
