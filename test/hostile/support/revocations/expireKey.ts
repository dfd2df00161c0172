/** Brings the expiry of an API key near: over the API a key lives a day at least. */
import { join } from "node:path"
import { PgClient } from "@effect/sql-pg"
import { EmbeddedPostgres } from "@narthex/local-postgres"
import { Effect, Option } from "effect"
import { Reactivity } from "effect/reactivity"

/** Lets a key of the platform in `directory` expire in so many seconds, by the platform's clock. */
export const expireKey = (directory: string, id: string, seconds: number): Promise<void> =>
  Effect.gen(function* () {
    const store = Option.getOrThrow(yield* EmbeddedPostgres.running(join(directory, "data")))
    const { database, password, path, username } = store
    const sql = yield* PgClient.makeClient({ path, database, username, password, connectTimeout: "40 seconds" })
    const at = new Date(Date.now() + seconds * 1_000)
    yield* sql`update narthex.api_key set expires_at = ${at} where id = ${id}`
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer), Effect.runPromise)
