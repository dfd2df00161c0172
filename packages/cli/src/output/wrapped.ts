/** Wraps text between words, for a terminal of a given width. */
import { textWidth } from "./textWidth.ts"

/**
 * Joins the words to lines of at most `width` columns. A word that is wider has a line of its own, and is not split.
 */
export const wrapped = (words: ReadonlyArray<string>, width: number, gap = " "): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of words) {
    const last = lines.at(-1)
    const longer = `${last}${gap}${word}`
    if (last === undefined || textWidth(longer) > width) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines
}

export const words = (text: string): ReadonlyArray<string> => text.split(/\s+/).filter((word) => word !== "")

/** A shell command that is longer than a line continues on the next one after a backslash, so that it can be copied. */
export const wrappedCommand = (command: string, width: number): ReadonlyArray<string> => {
  if (textWidth(command) <= width) return [command]
  const lines = wrapped(shellWords(command), width - 4)
  return lines.map((line, index) => `${index === 0 ? "" : "  "}${line}${index === lines.length - 1 ? "" : " \\"}`)
}

/** Words between unquoted spaces. */
const shellWords = (command: string): ReadonlyArray<string> => command.match(/(?:'[^']*'|"[^"]*"|\S)+/g) ?? [command]
