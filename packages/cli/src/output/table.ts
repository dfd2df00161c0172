/**
 * A table that a command shows to people. `renderTable` turns it into text, for a terminal or for a pipe.
 *
 * Pitfall: printing cells as they are. Labels and names come from other users, so control characters are escaped.
 */
import type { Scope, Whoami } from "@narthex/api"
import { DateTime } from "effect"

/** An instant in a cell: RFC 3339, UTC. A terminal shows its distance from now. */
export class Instant {
  readonly iso: string
  readonly millis: number

  constructor(iso: string) {
    this.iso = iso
    this.millis = Date.parse(iso)
  }

  toString() {
    return this.iso
  }
}

/** A number of bytes in a cell. A terminal shows it in a unit for people. */
export class Bytes {
  readonly bytes: number

  constructor(bytes: number) {
    this.bytes = bytes
  }

  toString() {
    return String(this.bytes)
  }
}

export type Cell = string | number | boolean | Instant | Bytes | null | undefined

export type Table =
  | { readonly _tag: "Rows"; readonly heads: ReadonlyArray<string>; readonly rows: ReadonlyArray<ReadonlyArray<Cell>> }
  /** One object, one line per member. */
  | { readonly _tag: "Facts"; readonly facts: ReadonlyArray<readonly [name: string, value: Cell]> }
  | { readonly _tag: "Sentence"; readonly sentence: string }
  /** Text that is printed as it is, for example JSON; a terminal shows its control characters escaped. */
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

export const instant = (at: DateTime.Utc | null): Instant | null =>
  at === null ? null : new Instant(DateTime.formatIso(at))

/** How large something is; `null`: it is not known. */
export const size = (bytes: number | null): Bytes | null => (bytes === null ? null : new Bytes(bytes))

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
const unsafe = /[\p{Cc}\p{Bidi_Control}]/gu

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/** Escapes characters that control a terminal. */
export const printable = (text: string): string => text.replace(unsafe, escaped)

/** The same for text of several lines: line feeds and tabs stay. JSON stays the same JSON. */
export const printableLines = (text: string): string =>
  text.replace(unsafe, (character) => (character === "\n" || character === "\t" ? character : escaped(character)))
