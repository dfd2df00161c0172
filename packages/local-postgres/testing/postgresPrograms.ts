/**
 * The Postgres that tests run: the system's, else the one of the npm package, so that the suite needs nothing installed.
 *
 * Postgres refuses root, so root lends it an account that has a name: `postgres` if there is one, else `nobody`.
 */
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { Effect } from "effect"
import { findMachine } from "../src/openDataDirectory.ts"
import type { Identity } from "../src/PostgresUser.ts"

const run = promisify(execFile)

export interface PostgresPrograms {
  /** Where `postgres` and `initdb` are. */
  readonly directory: string
  /** Whom they run as; `undefined` when that is simply us. */
  readonly identity: Identity | undefined
}

const idOf = async (name: string): Promise<Identity> => {
  const [uid, gid] = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])])
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
}

export const postgresPrograms = async (): Promise<PostgresPrograms> => {
  const identity = process.getuid?.() === 0 ? await idOf("postgres").catch(() => idOf("nobody")) : undefined
  const { binaries } = await Effect.runPromise(findMachine({ dataDir: ".", runAs: identity }))
  return { directory: binaries.directory, identity }
}
