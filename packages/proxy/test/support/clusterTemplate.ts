/** An empty cluster whose superuser is the role of the tests, with SCRAM, for tests to copy: `initdb` runs once per Postgres and account. */
import { execFile } from "node:child_process"
import { chown, mkdir, mkdtemp, rename, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { cacheDirectory } from "../../../local-postgres/testing/cacheDirectory.ts"
import type { PostgresPrograms } from "../../../local-postgres/testing/postgresPrograms.ts"
import { role, verifierOf } from "./credentials.ts"

const run = promisify(execFile)

/** The number is part of the name of the cache: change it together with the text. */
const recipe = 2
const options = ["-A", "scram-sha-256", "-U", role, "-N", "-E", "UTF8", "--locale=C", "--wal-segsize=1"]

/**
 * Makes it in a directory that the account of Postgres can access, which the checkout may not be. If several processes make it
 * concurrently, the first to rename wins and the others remove theirs.
 */
const make = async ({ directory, identity }: PostgresPrograms, cache: string, target: string): Promise<void> => {
  const scratch = await mkdtemp(join(tmpdir(), "narthex-proxy-template-"))
  const staged = await mkdtemp(join(cache, "making-"))
  try {
    const [data, passwordFile] = [join(scratch, "data"), join(scratch, "password")]
    await mkdir(data, { mode: 0o700 })
    // Postgres takes a verifier in place of a password, and stores it as it is.
    await writeFile(passwordFile, verifierOf(role))
    if (identity !== undefined)
      for (const path of [scratch, data, passwordFile]) await chown(path, identity.uid, identity.gid)
    const args = ["-D", data, `--pwfile=${passwordFile}`, ...options]
    await run(join(directory, "initdb"), args, { ...identity, cwd: scratch })
    await run("cp", ["-a", data, staged])
    await rename(join(staged, "data"), target).catch((error: unknown) =>
      stat(target).catch(() => Promise.reject(error))
    )
  } finally {
    for (const path of [scratch, staged]) await rm(path, { recursive: true, force: true })
  }
}

/** Fills a data directory that does not exist yet. */
export const copyTemplate = async (programs: PostgresPrograms, data: string): Promise<void> => {
  const cache = await cacheDirectory("proxy-clusters")
  const { stdout } = await run(join(programs.directory, "postgres"), ["--version"])
  const name = `${stdout.trim().replaceAll(/[^\w.]+/g, "-")}-${programs.identity?.uid ?? "own"}-${recipe}`
  const template = join(cache, name)
  if (!(await stat(template).catch(() => undefined))) await make(programs, cache, template)
  await run("cp", ["-a", template, data])
  // The cache may have another owner by now: a checkout may have been copied or given to another account.
  if (programs.identity !== undefined)
    await run("chown", ["-R", `${programs.identity.uid}:${programs.identity.gid}`, data])
}
