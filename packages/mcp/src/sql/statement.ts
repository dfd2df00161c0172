/** A statement, what comes of it, and why it may fail. */
import { Context, Schema } from "effect"
import type { Parameter } from "./values.ts"

export interface Statement {
  readonly sql: string
  readonly parameters?: ReadonlyArray<Parameter>
  /** The most rows of the answer. */
  readonly limit: number
  /** The most bytes of values in the answer. */
  readonly max_bytes: number
}

/** Milliseconds after which Postgres ends a statement. */
export const StatementTimeout = Context.Reference<number>("@narthex/mcp/sql/StatementTimeout", {
  defaultValue: () => 30_000
})

export interface Column {
  readonly name: string
  readonly type: string
}

export interface Outcome {
  readonly columns: ReadonlyArray<Column>
  readonly rows: ReadonlyArray<ReadonlyArray<unknown>>
  /** The command tag of Postgres, with the number of rows: `UPDATE 3`. */
  readonly command: string | null
  /** Which limit has cut the rows; `null`: none. */
  readonly truncated: "rows" | "bytes" | null
}

/** Postgres, or the proxy before it, refused the statement or the connection. All texts are the database's. */
export class SqlRefused extends Schema.TaggedError<SqlRefused>()("SqlRefused", {
  sqlstate: Schema.String,
  text: Schema.String,
  detail: Schema.optionalKey(Schema.String),
  hint: Schema.optionalKey(Schema.String),
  /** Which character of the statement it is about, from 1. */
  position: Schema.optionalKey(Schema.Int),
  /** Whether the session had not begun: nothing has run. */
  opening: Schema.Boolean
}) {
  override get message() {
    return `${this.text} (${this.sqlstate})`
  }
}

/** The connection could not be made, or was lost. `reason` has neither address nor credential. */
export class ConnectionLost extends Schema.TaggedError<ConnectionLost>()("ConnectionLost", {
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}
