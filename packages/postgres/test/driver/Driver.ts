/** The interface of a driver under load, so that one load can compare several. Every promise must settle. */
export interface Driver {
  readonly query: (text: string, params: ReadonlyArray<string | number>) => Promise<unknown>
  /** Runs the statements in one transaction. */
  readonly transaction: (texts: ReadonlyArray<string>) => Promise<unknown>
  /** Calls back for every notification, for as long as the process lives. */
  readonly listen: (channel: string, heard: (payload: string) => void) => Promise<unknown>
}

export const connections = 8
