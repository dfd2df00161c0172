/**
 * The transaction of postgres.js (`postgres`), in `sql.begin(async (tx) => …)`, or of a reserved connection.
 *
 * Pitfall: sending statements on `tx` itself. postgres.js fails the whole transaction when a statement of `tx` has
 * failed, even after a rollback to a savepoint. Statements inside `tx.savepoint(…)` fail that savepoint alone.
 */
import { bySavepoint, type HostSavepoint, type HostSession, type TextRows } from "./HostSession.ts"

interface Parameter {
  readonly value: unknown
}

interface Rows extends ReadonlyArray<ReadonlyArray<Uint8Array | null>> {
  readonly columns?: ReadonlyArray<{ readonly name: string; readonly type: number }> | undefined
}

/** The used part of a handle of postgres.js. */
export interface PostgresJsHandle {
  readonly unsafe: (
    text: string,
    params: Array<Parameter | null>,
    options: { readonly simple: boolean; readonly prepare: boolean }
  ) => { readonly raw: () => PromiseLike<Rows> }
  readonly typed: (value: string, type: number) => Parameter
  /** Only the handle of a transaction has it. */
  readonly savepoint?: (run: (inner: PostgresJsHandle) => Promise<void>) => Promise<unknown>
}

/** The type `unknown`: Postgres infers the type as if none was given, and postgres.js has no serializer for it. */
const unknownType = 705

const decoder = new TextDecoder()

/** The column's own name: postgres.js renames the columns of answers where `transform` says so (camel, Pascal, kebab). */
const ownName = (name: string) =>
  name
    .replaceAll("-", "_")
    .replaceAll(/(?<!^)[A-Z]/g, (letter) => `_${letter}`)
    .toLowerCase()

const sending =
  (handle: PostgresJsHandle) =>
  async (text: string, params: ReadonlyArray<string | null>): Promise<TextRows> => {
    const typed = params.map((value) => (value === null ? null : handle.typed(value, unknownType)))
    const rows = await handle.unsafe(text, typed, { simple: false, prepare: false }).raw()
    return {
      columns: (rows.columns ?? []).map(({ name, type }) => ({ name: ownName(name), oid: type })),
      rows: Array.from(rows, (row) => row.map((value) => (value === null ? null : decoder.decode(value))))
    }
  }

/** Ends a savepoint of postgres.js, which rolls back when its callback fails. */
class RolledBack extends Error {}

const byCallback = (savepoint: NonNullable<PostgresJsHandle["savepoint"]>): Promise<HostSavepoint> =>
  new Promise((opened, failed) => {
    const whole = savepoint(
      (inner) =>
        new Promise<void>((keep, undo) =>
          opened({
            send: sending(inner),
            release: async () => {
              keep()
              await whole
            },
            rollback: async () => {
              undo(new RolledBack())
              await whole.catch((error: unknown) => {
                if (!(error instanceof RolledBack)) throw error
              })
            }
          })
        )
    )
    whole.catch(failed)
  })

export const postgresJs = (handle: PostgresJsHandle): HostSession => ({
  key: handle,
  open: () => (handle.savepoint === undefined ? bySavepoint(sending(handle)) : byCallback(handle.savepoint)),
  inTransaction: () => undefined
})
