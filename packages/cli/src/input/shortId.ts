/**
 * Ids that a person has shortened: to the beginning, or to the form of a narrow table, `01a2223…7e7bc3` (docs/design/cli.md
 * C21). Pure.
 */

/** The prefix of an id does not count as a beginning: every id of the kind has it. */
const prefix = /^[a-z]{2,4}-/

const leastTyped = 4

/** The parts of a shortened id; `undefined`: the text is too short, or is no id. */
const partsOf = (text: string) => {
  const [, start = "", ellipsis, end = ""] = /^([0-9a-z-]*)(…?)([0-9a-z-]*)$/.exec(text) ?? []
  const typed = start.replace(prefix, "").length + end.length
  return typed < (ellipsis === "…" ? 1 : leastTyped) ? undefined : { start, end }
}

/** Whether the text is short for this id. */
export const isShortFor = (text: string, id: string): boolean => {
  const parts = partsOf(text)
  return (
    parts !== undefined &&
    parts.start.length + parts.end.length <= id.length &&
    id.startsWith(parts.start) &&
    id.endsWith(parts.end)
  )
}

/** Whether the text is a UUID or may be short for one. */
export const mayBeUuid = (text: string): boolean =>
  text.length <= 36 && /^[0-9a-f…-]+$/.test(text) && partsOf(text) !== undefined
