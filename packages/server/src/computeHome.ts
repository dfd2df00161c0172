/**
 * One data directory holds the local computes of a store. The runners of a store compare its records with the computes
 * that they find, so a second directory, on another machine for example, would take the computes of the first for lost.
 *
 * The directory has an id in a file, and the store remembers the id of the first one. Moving the directory moves the id.
 */
import { randomUUID } from "node:crypto"
import { join } from "node:path"
import { codeOf, readPrivateFile, writePrivateFile } from "@narthex/http"
import { Database } from "@narthex/postgres"
import { Effect, Schema } from "effect"

/** The computes of the store are in another directory. Nothing was changed. */
export class ComputesElsewhere extends Schema.TaggedError<ComputesElsewhere>()("ComputesElsewhere", {
  data_dir: Schema.String
}) {
  override get message() {
    return `The branches of this store are in another data directory than ${this.data_dir}, so this instance cannot run them. Give it --roles api,console, or move that directory here. If it is lost, delete the row of compute_home: branches without data stay failed.`
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

/** Completes if the store's computes are in this directory, or in none yet, and then they are in this one for good. */
export const claimHome = Effect.fn("claimHome")(function* (data_dir: string) {
  const { query } = yield* Database
  const id = yield* idOf(join(data_dir, "computes.id"))
  const [claimed] = yield* query(
    "claimHome",
    `insert into narthex.compute_home as former (home) values ($1)
     on conflict (one) do update set home = former.home where former.home = excluded.home returning home`,
    [id]
  )
  if (claimed === undefined) return yield* new ComputesElsewhere({ data_dir })
})
