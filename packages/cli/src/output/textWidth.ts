/** The columns that text takes in a terminal: East Asian characters and emoji take two, combining marks none. */
import { CliOutput } from "effect/cli"

/** Every printable ASCII character takes one column; only other text is measured. */
const ascii = /^[\x20-\x7e]*$/

export const textWidth = (text: string): number => (ascii.test(text) ? text.length : CliOutput.displayWidth(text))

/** Pads with spaces to `width` columns. Text that is wider stays as it is. */
export const padded = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - textWidth(text)))

const characters = new Intl.Segmenter("en", { granularity: "grapheme" })

/** As much of the start as fits into `width` columns. A character of two columns is never split. */
const start = (text: string, width: number): string => {
  let taken = ""
  let left = width
  for (const { segment } of characters.segment(text)) {
    left -= textWidth(segment)
    if (left < 0) break
    taken += segment
  }
  return taken
}

/** Cuts to `width` columns; an ellipsis stands for what is cut from the end. */
export const cut = (text: string, width: number): string =>
  textWidth(text) <= width ? text : `${start(text, width - 1)}…`

/** Cuts from the middle, because the ids of one kind begin alike. `text` is ASCII. */
export const cutMiddle = (text: string, width: number): string => {
  if (text.length <= width) return text
  const last = Math.floor((width - 1) / 2)
  return `${text.slice(0, width - 1 - last)}…${text.slice(text.length - last)}`
}
