/** The transaction of a client of node-postgres (`pg`), or of a driver with the same client. */
import { bySavepoint, type HostSession, type TextRows } from "./HostSession.ts"

/** The used part of `pg.Client`. */
export interface NodePostgresClient {
  readonly query: (config: {
    readonly text: string
    readonly values: ReadonlyArray<string | null>
    readonly rowMode: "array"
    readonly types: { readonly getTypeParser: () => (text: string) => string }
  }) => Promise<{
    readonly fields: ReadonlyArray<{ readonly name: string; readonly dataTypeID: number }>
    readonly rows: ReadonlyArray<ReadonlyArray<string | null>>
  }>
  /** `"T"` in a transaction, `"I"` outside, `"E"` after a failed statement. Older versions lack it. */
  readonly getTransactionStatus?: () => string | null
}

const types = { getTypeParser: () => (text: string) => text }

export const nodePostgres = (client: NodePostgresClient): HostSession => {
  const send = async (text: string, values: ReadonlyArray<string | null>): Promise<TextRows> => {
    const { fields, rows } = await client.query({ text, values, rowMode: "array", types })
    return { columns: fields.map((field) => ({ name: field.name, oid: field.dataTypeID })), rows }
  }
  return {
    key: client,
    open: () => bySavepoint(send),
    inTransaction: () => {
      const status = client.getTransactionStatus?.() ?? null
      return status === null ? undefined : status !== "I"
    }
  }
}
