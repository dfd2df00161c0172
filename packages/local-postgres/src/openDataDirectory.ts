/** What the store and the computes both begin with: the data directory, who runs Postgres, and which Postgres. */
import { mkdir, realpath } from "node:fs/promises"
import { Effect } from "effect"
import { attempt } from "./attempt.ts"
import { findPostgresBinaries } from "./PostgresBinaries.ts"
import { findPostgresUser, type Identity } from "./PostgresUser.ts"
import type { Machine } from "./PostgresProcess.ts"

export interface LocalPostgresOptions {
  /** `NARTHEX_DATA_DIR`. Made when it is not there; one that is there keeps its mode. */
  readonly dataDir: string
  /** `NARTHEX_POSTGRES_BIN`: `system`, `npm` or a directory; left out: the first of system and npm that is there. */
  readonly binaries?: string | undefined
  /** Whom Postgres runs as when we are root; left out: the user `postgres`, else a uid of its own. */
  readonly runAs?: Identity | undefined
}

/** The directory by its real path: locks, names of clusters and sockets are derived from it. */
export const openDataDirectory = (dataDir: string) =>
  attempt(`Opening ${dataDir}`, async () => {
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    return realpath(dataDir)
  })

/** `major` is the version of data that exist already. */
export const findMachine = Effect.fn("findMachine")(function* (options: LocalPostgresOptions, major?: number) {
  const user = yield* findPostgresUser(options.runAs)
  const binaries = yield* findPostgresBinaries({ choice: options.binaries, major }, user)
  return { user, binaries } satisfies Machine
})
