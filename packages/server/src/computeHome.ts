/**
 * One data directory holds the local computes of a region. Its runners compare the records of the region with the
 * computes that they find, so a second directory, on another machine for example, would take the computes of the first
 * for lost.
 *
 * The directory has an id in a file, and the store remembers the id of the first one of each region. Moving the directory
 * moves the id.
 */
import { randomUUID } from "node:crypto"
import { join } from "node:path"
import { codeOf, readPrivateFile, writePrivateFile } from "@narthex/http"
import { Database } from "@narthex/postgres"
import { Effect, Schema } from "effect"

/** The computes of the region are in another directory. Nothing was changed. */
export class ComputesElsewhere extends Schema.TaggedError<ComputesElsewhere>()("ComputesElsewhere", {
  data_dir: Schema.String,
  region: Schema.String
}) {
  override get message() {
    return `The branches of region "${this.region}" are in another data directory than ${this.data_dir}, so this instance cannot run them. Give it --roles api,console, or move that directory here. If it is lost, delete the row of region_home: branches without data stay failed.`
  }
}

/** The directory holds the computes of another region. Nothing was changed. */
export class HomeOfAnother extends Schema.TaggedError<HomeOfAnother>()("HomeOfAnother", {
  data_dir: Schema.String,
  region: Schema.String,
  of: Schema.String
}) {
  override get message() {
    return `The data directory ${this.data_dir} has the branches of region "${this.of}", so this instance cannot run those of "${this.region}". Set NARTHEX_REGION=${this.of}, or another NARTHEX_DATA_DIR.`
  }
}

/** The file with the id cannot be read or written. */
export class HomeUnusable extends Schema.TaggedError<HomeUnusable>()("HomeUnusable", {
  path: Schema.String,
  code: Schema.String
}) {
  override get message() {
    return `The file ${this.path} cannot be used (${this.code}). The server needs it to recognize its data directory.`
  }
}

const idOf = (path: string) =>
  Effect.tryPromise({
    try: async () => (await readPrivateFile(path)) ?? (await writePrivateFile(path, randomUUID())),
    catch: (cause) => new HomeUnusable({ path, code: codeOf(cause) })
  })

interface Home {
  readonly region_id: string
  readonly home: string
}

/** Completes if the region's computes are in this directory, or in none yet, and then they are in this one for good. */
export const claimHome = Effect.fn("claimHome")(function* (data_dir: string, region: string) {
  const { query } = yield* Database
  const id = yield* idOf(join(data_dir, "computes.id"))
  yield* query(
    "claimHome",
    "insert into narthex.region_home (region_id, home) values ($1, $2) on conflict do nothing",
    [region, id]
  )
  const homes = yield* query<Home>(
    "claimHome",
    "select region_id, home from narthex.region_home where region_id = $1 or home = $2",
    [region, id]
  )
  const other = homes.find(({ home, region_id }) => home === id && region_id !== region)
  if (other !== undefined) return yield* new HomeOfAnother({ data_dir, region, of: other.region_id })
  if (!homes.some(({ home }) => home === id)) return yield* new ComputesElsewhere({ data_dir, region })
})
