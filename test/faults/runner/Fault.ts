/** A planted fault: one mistake that a programmer could make, and the tests that must fail because of it. */

export interface Fault {
  readonly id: string
  readonly area: Area
  /** The source file, from the root of the repository. */
  readonly file: string
  /** A piece of its text that occurs exactly once. */
  readonly find: string
  /** The text that replaces it while the fault is planted. */
  readonly put: string
  /** The behaviour that the fault breaks. */
  readonly why: string
  /** The test files of which at least one test must fail. */
  readonly tests: ReadonlyArray<string>
  /** A requirement of those tests (`test/harness/requirements.ts`). Without it they are skipped, and the fault is not planted. */
  readonly needs?: string
}

export type Area =
  | "allowlist"
  | "authorization"
  | "client"
  | "command-line"
  | "computes"
  | "console"
  | "console-project"
  | "credentials"
  | "documentation"
  | "events"
  | "host"
  | "operations"
  | "packages"
  | "proxy"
  | "quotas"
  | "testing"

/** The faults of one file as a list states them: what they share is written once. */
export interface FaultsOfFile {
  readonly area: Area
  readonly file: string
  readonly tests: ReadonlyArray<string>
  readonly faults: ReadonlyArray<
    Pick<Fault, "id" | "find" | "put" | "why" | "needs"> & {
      /** Instead of the tests of the file. */
      readonly tests?: ReadonlyArray<string>
    }
  >
}

export const faultsOf = (lists: ReadonlyArray<FaultsOfFile>): ReadonlyArray<Fault> =>
  lists.flatMap(({ area, faults, file, tests }) => faults.map((fault) => ({ area, file, tests, ...fault })))

/** The text with the fault in it; `undefined` unless `find` occurs exactly once and `put` differs. */
export const planted = (text: string, { find, put }: Pick<Fault, "find" | "put">): string | undefined => {
  const at = text.indexOf(find)
  if (find === "" || find === put || at === -1 || text.indexOf(find, at + 1) !== -1) return undefined
  return text.slice(0, at) + put + text.slice(at + find.length)
}
