/**
 * Tables for people: two spaces between columns, upper-case headers, no borders, no truncation (docs/design/cli.md
 * C10).
 *
 * Pitfall: printing cells as they are. Labels and names come from other users, so control characters are escaped.
 */
import type { Scope, Whoami } from "@narthex/api"
import { DateTime } from "effect"

export type Cell = string | number | boolean | null | undefined

export type Table =
  | { readonly _tag: "Rows"; readonly heads: ReadonlyArray<string>; readonly rows: ReadonlyArray<ReadonlyArray<Cell>> }
  /** One object, one line per member. */
  | { readonly _tag: "Facts"; readonly facts: ReadonlyArray<readonly [name: string, value: Cell]> }
  | { readonly _tag: "Sentence"; readonly sentence: string }
  /** Text that needs no escaping, for example JSON. */
  | { readonly _tag: "Raw"; readonly text: string }

export const rows = (heads: ReadonlyArray<string>, ...cells: ReadonlyArray<ReadonlyArray<Cell>>): Table => ({
  _tag: "Rows",
  heads,
  rows: cells
})
export const facts = (...pairs: ReadonlyArray<readonly [name: string, value: Cell]>): Table => ({
  _tag: "Facts",
  facts: pairs
})
export const sentence = (text: string): Table => ({ _tag: "Sentence", sentence: text })

/** An instant in a cell: RFC 3339, UTC. */
export const instant = (at: DateTime.Utc | null): string | null => (at === null ? null : DateTime.formatIso(at))

/** A person in a cell: the name and the address, as far as they are known. */
export const personText = ({ email, id, name }: Whoami["user"]): string =>
  name === null ? (email ?? id) : email === null ? name : `${name} <${email}>`

/** A key's scope in a cell. */
export const scopeText = (scope: Scope): string => {
  switch (scope.type) {
    case "organization":
      return "organization"
    case "project":
      return `project:${scope.project_id}`
    case "branch":
      return `branch:${scope.branch_id}`
  }
}

/** Control characters, and those that change the direction of text. */
const unsafe = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

/** Escapes characters that control a terminal. */
export const printable = (text: string): string =>
  text.replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)

const cellText = (cell: Cell): string =>
  cell === null || cell === undefined || cell === "" ? "-" : printable(String(cell))

const width = (text: string) => [...text].length

/** Pads every column but the last. */
const aligned = (lines: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const widths = lines.reduce<ReadonlyArray<number>>(
    (widest, line) => line.map((cell, column) => Math.max(width(cell), widest[column] ?? 0)),
    []
  )
  return lines.map((line) =>
    line
      .map((cell, column) =>
        column === line.length - 1 ? cell : cell + " ".repeat((widths[column] ?? 0) - width(cell))
      )
      .join("  ")
  )
}

/** Returns `undefined` for a table without rows. */
export const renderTable = (table: Table): string | undefined => {
  switch (table._tag) {
    case "Rows":
      return table.rows.length === 0
        ? undefined
        : aligned([table.heads.map((head) => head.toUpperCase()), ...table.rows.map((row) => row.map(cellText))]).join(
            "\n"
          )
    case "Facts":
      return aligned(table.facts.map(([name, value]) => [name, cellText(value)])).join("\n")
    case "Sentence":
      return printable(table.sentence)
    case "Raw":
      return table.text
  }
}
