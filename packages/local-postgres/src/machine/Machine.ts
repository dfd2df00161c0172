/** The parts that all clusters of a data directory share: directory, programs, and the account that runs them. */
import { mkdir, realpath } from "node:fs/promises"
import { Effect } from "effect"
import { defaultUids, type UidRange } from "./ComputeAccounts.ts"
import { attempt } from "./LocalPostgresError.ts"
import { findPostgresBinaries, type PostgresBinaries } from "./PostgresBinaries.ts"
import { findPostgresUser, type Identity, type PostgresUser } from "./PostgresUser.ts"

export interface LocalPostgresOptions {
  /** `NARTHEX_DATA_DIR`. Created with mode 0700 when missing; an existing directory keeps its mode. */
  readonly dataDir: string
  /** `NARTHEX_POSTGRES_BIN`: `system`, `npm` or a directory. Default: the first of system and npm that is usable. */
  readonly binaries?: string | undefined
  /** The account that runs the store when this process is root. Default: the user `postgres`, else uid 65532. */
  readonly runAs?: Identity | undefined
  /** `NARTHEX_COMPUTE_UIDS`: the accounts of the servers of branches when this process is root. Default: `defaultUids`. */
  readonly uids?: UidRange | undefined
}

export interface Machine {
  readonly binaries: PostgresBinaries
  readonly user: PostgresUser
  readonly uids: UidRange
}

/** The real path of the directory: locks, cluster names and sockets are derived from it. */
export const openDataDirectory = (dataDir: string) =>
  attempt(`Opening ${dataDir}`, async () => {
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    return realpath(dataDir)
  })

/** `major` is the version of data that exist already; without data, any supported version will do. */
export const findMachine = Effect.fn("findMachine")(function* (options: LocalPostgresOptions, major?: number) {
  const user = yield* findPostgresUser(options.runAs)
  const binaries = yield* findPostgresBinaries({ choice: options.binaries, major }, user)
  return { user, binaries, uids: options.uids ?? defaultUids } satisfies Machine
})
