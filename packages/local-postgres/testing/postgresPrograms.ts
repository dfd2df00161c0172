/**
 * The Postgres that tests run: the system's, else the one of the npm package, so that the suite needs nothing
 * installed. `NARTHEX_TEST_POSTGRES=system` or `npm` demands one of them.
 *
 * Postgres refuses to run as root, so for root it runs as a named account: `postgres` if it exists, else `nobody`.
 */
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { Effect, Result } from "effect"
import { findMachine } from "../src/machine/Machine.ts"
import type { Identity } from "../src/machine/PostgresUser.ts"

const run = promisify(execFile)

export interface PostgresPrograms {
  /** The directory of `postgres` and `initdb`. */
  readonly directory: string
  /** The user that runs them; `undefined`: the user of this process. */
  readonly identity: Identity | undefined
}

/** The kind that `NARTHEX_TEST_POSTGRES` demands, if any. */
export const postgresAskedFor = (asked = process.env["NARTHEX_TEST_POSTGRES"]): "system" | "npm" | undefined => {
  if (asked === undefined || asked === "") return undefined
  if (asked === "system" || asked === "npm") return asked
  throw new Error(`NARTHEX_TEST_POSTGRES is "${asked}"; it must be "system" or "npm".`)
}

const idOf = async (name: string): Promise<Identity> => {
  const [uid, gid] = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])])
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
}

export const postgresPrograms = async (asked = postgresAskedFor()): Promise<PostgresPrograms> => {
  const identity = process.getuid?.() === 0 ? await idOf("postgres").catch(() => idOf("nobody")) : undefined
  const found = await Effect.runPromise(Effect.result(findMachine({ dataDir: ".", runAs: identity, binaries: asked })))
  if (Result.isSuccess(found)) return { directory: found.success.binaries.directory, identity }
  const reason = found.failure.message
  throw new Error(asked === undefined ? reason : `NARTHEX_TEST_POSTGRES asks for the ${asked} Postgres. ${reason}`)
}
