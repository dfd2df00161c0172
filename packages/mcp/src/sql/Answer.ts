/** Collects the answer to a statement, within its limits. Rows beyond them are read and dropped. */
import type { DataRow, ErrorFields, RowDescription } from "@effect/sql-pg/PgProtocol"
import { type Column, type Outcome, SqlRefused, type Statement } from "./statement.ts"
import { typeName, valueOf } from "./values.ts"

const decoder = new TextDecoder()

export class Answer {
  readonly #limits: Pick<Statement, "limit" | "max_bytes">
  #oids: ReadonlyArray<number> = []
  #columns: ReadonlyArray<Column> = []
  readonly #rows: Array<ReadonlyArray<unknown>> = []
  #bytes = 0
  #truncated: Outcome["truncated"] = null
  command: string | null = null

  constructor(limits: Pick<Statement, "limit" | "max_bytes">) {
    this.#limits = limits
  }

  describe({ fields }: RowDescription): void {
    this.#oids = fields.map(({ dataTypeOid }) => dataTypeOid)
    this.#columns = fields.map(({ dataTypeOid, name }) => ({ name, type: typeName(dataTypeOid) }))
  }

  add({ values }: DataRow): void {
    if (this.#truncated !== null) return
    if (this.#rows.length === this.#limits.limit) {
      this.#truncated = "rows"
      return
    }
    this.#bytes += values.reduce((sum, value) => sum + (value?.length ?? 0), 0)
    if (this.#bytes > this.#limits.max_bytes) {
      this.#truncated = "bytes"
      return
    }
    this.#rows.push(
      values.map((value, index) => (value === null ? null : valueOf(this.#oids[index] ?? 0, decoder.decode(value))))
    )
  }

  get outcome(): Outcome {
    return { columns: this.#columns, rows: this.#rows, command: this.command, truncated: this.#truncated }
  }
}

const longest = 2_000

const cut = (text: string) => (text.length > longest ? `${text.slice(0, longest)}…` : text)

/** `opening`: the session had not begun. */
export const refusalOf = ({ code, detail, hint, message, position }: ErrorFields, opening: boolean): SqlRefused =>
  new SqlRefused({
    sqlstate: code ?? "XX000",
    text: cut(message ?? "The database gave no reason."),
    ...(detail === undefined ? {} : { detail: cut(detail) }),
    ...(hint === undefined ? {} : { hint: cut(hint) }),
    ...(position === undefined || !/^\d+$/.test(position) ? {} : { position: Number(position) }),
    opening
  })
