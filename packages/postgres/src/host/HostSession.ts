/**
 * The port that a host's driver implements: a savepoint in the transaction that the host has begun, and statements
 * inside it. A driver gets every parameter as text without a type and answers every value as text, so its own parsers
 * and serializers take no part.
 */

/** The rows of one statement, undecoded. */
export interface TextRows {
  readonly columns: ReadonlyArray<{ readonly name: string; readonly oid: number }>
  readonly rows: ReadonlyArray<ReadonlyArray<string | null>>
}

export interface HostSavepoint {
  readonly send: (text: string, params: ReadonlyArray<string | null>) => Promise<TextRows>
  /** Keeps what was done since the savepoint, as part of the transaction around it. */
  readonly release: () => Promise<void>
  /** Undoes what was done since the savepoint. The transaction around it goes on. */
  readonly rollback: () => Promise<void>
}

export interface HostSession {
  /** Two handles of one transaction have the same key, so that two calls do not use it at once. */
  readonly key: object
  readonly open: () => Promise<HostSavepoint>
  /** Whether the connection is in a transaction, as far as the driver knows: `undefined` if it does not. */
  readonly inTransaction: () => boolean | undefined
}

/** A savepoint by statements, for drivers without one of their own. */
export const bySavepoint = async (send: HostSavepoint["send"]): Promise<HostSavepoint> => {
  const run = async (text: string) => void (await send(text, []))
  await run("savepoint narthex")
  return {
    send,
    release: () => run("release savepoint narthex"),
    rollback: async () => {
      await run("rollback to savepoint narthex")
      await run("release savepoint narthex")
    }
  }
}
