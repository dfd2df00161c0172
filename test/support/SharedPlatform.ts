/**
 * The platform that test files share: the whole platform with local computes, started for the first file that asks.
 *
 * A file signs in people of its own, by a domain of its own in their email addresses, so it has its own organizations,
 * projects and quotas. It neither stops the platform nor changes what others see; a test that does starts one for
 * itself (`Platform.ts`).
 */
import { createWriteStream } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { useClusterTemplates } from "../../packages/local-postgres/testing/clusterTemplates.ts"
import { resource } from "../harness/resource.ts"
import { Platform, type Ready, withLog } from "./Platform.ts"
import { emptyDirectory, ownAccount, root } from "./surroundings.ts"

interface Description {
  readonly ready: Ready
  /** The file with its log. */
  readonly log: string
}

/** Starts it, when the programs are built. Runs in the process of the runner, which ends it after the last file. */
export const startSharedPlatform = async () => {
  const directory = emptyDirectory(ownAccount)
  await useClusterTemplates(join(directory.path, "data"), "default")
  const log = join(root, "test-results/logs/shared-platform.log")
  const file = createWriteStream(log)
  const platform = await Platform.startBuilt(
    directory.path,
    ownAccount,
    { NARTHEX_COMPUTE: "local", NARTHEX_COMPUTE_SHARED_ACCOUNT: "accept" },
    (line) => file.write(`${line}\n`)
  )
  const description: Description = { ready: platform.ready, log }
  const end = async () => {
    try {
      const code = await platform.stop()
      if (code !== 0) throw new Error(`The shared platform ended with ${code}. Its log: ${log}`)
    } finally {
      await platform.clear()
      file.end()
      directory.remove()
    }
  }
  return { description, end }
}

export class SharedPlatform {
  readonly ready: Ready
  readonly #log: string

  private constructor({ log, ready }: Description) {
    this.ready = ready
    this.#log = log
  }

  static async get(): Promise<SharedPlatform> {
    return new SharedPlatform(await resource<Description>("platform"))
  }

  /** Runs a part of a test; its failure shows the end of the platform's log. */
  async explain<A>(work: () => Promise<A>): Promise<A> {
    return work().catch(async (error: unknown) => {
      throw withLog(error, (await readFile(this.#log, "utf8")).trimEnd().split("\n"))
    })
  }
}
