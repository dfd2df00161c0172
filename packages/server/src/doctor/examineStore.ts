/** The store: whether it can be reached and used, and whether its clock is this machine's. */
import { StorageError } from "@narthex/core"
import { EmbeddedPostgres } from "@narthex/local-postgres"
import { Database, type ServerFacts, serverFacts, unfitness } from "@narthex/postgres"
import { Clock, Effect, Option } from "effect"
import type { Settings } from "../settings/Settings.ts"
import { explained, layerDatabase } from "../store.ts"
import { type Examination, fine, wrong } from "./Finding.ts"

interface Facts extends ServerFacts {
  readonly read_only: boolean
  readonly creates: boolean
  readonly now: number
}

/** A schema that does not exist yet is made by the first start. */
const question = `select ${serverFacts}, current_setting('transaction_read_only') = 'on' as read_only,
  coalesce(has_schema_privilege(to_regnamespace($1)::oid, 'CREATE'),
    has_database_privilege(current_database(), 'CREATE')) as creates,
  (extract(epoch from clock_timestamp()) * 1000)::float8 as now`

/** Milliseconds. An instance refuses the session tokens of another whose clock is further ahead. */
const clocksWithin = 30_000

/** SQLSTATEs of what the answer would be when the server changes something. */
const refusals = { read_only: "25006", creates: "42501" }

const examined = (settings: Settings): Examination =>
  Effect.gen(function* () {
    const [facts] = yield* Database.use(({ query }) => query<Facts>("doctor", question, [settings.schema]))
    const here = yield* Clock.currentTimeMillis
    if (facts === undefined) return []
    const because = (cause: unknown) => [
      wrong("database", explained(settings)(new StorageError({ operation: "doctor", cause })).message)
    ]
    const unfit = unfitness(facts)
    if (unfit !== undefined) return because(unfit)
    if (facts.read_only) return because({ code: refusals.read_only })
    if (!facts.creates) return because({ code: refusals.creates })
    const apart = Math.round(Math.abs(facts.now - here) / 1000)
    return [
      fine("database", `Postgres ${facts.version}, ${facts.encoding}, and its schema may be changed.`),
      apart * 1000 > clocksWithin
        ? wrong("clock", `The clocks of this machine and of the database are ${apart} s apart. Set both by NTP.`)
        : fine("clock", "The clocks of this machine and of the database agree.")
    ]
  }).pipe(
    Effect.provide(layerDatabase(settings, "attach")),
    Effect.catch((error) =>
      Effect.succeed([
        wrong("database", error instanceof StorageError ? explained(settings)(error).message : error.message)
      ])
    )
  )

/** The embedded store is examined while it runs, and is not started. */
export const examineStore = (settings: Settings): Examination =>
  settings.database !== null
    ? examined(settings)
    : Effect.flatMap(
        EmbeddedPostgres.running(settings.data_dir),
        Option.match({
          onNone: () =>
            Effect.succeed([fine("database", "The embedded store does not run, and starts with the platform.")]),
          onSome: () => examined(settings)
        })
      ).pipe(Effect.catch(({ message }) => Effect.succeed([wrong("database", message)])))
