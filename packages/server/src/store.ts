/**
 * The store of a process: the embedded Postgres, or the one of `DATABASE_URL`; migrated, with its regions.
 */
import { AccountStore, RegionCatalog, RegionId, type StorageError } from "@narthex/core"
import { EmbeddedPostgres, type StoreConnection } from "@narthex/local-postgres"
import { Database, migrate, PostgresStorage, whyUnusable } from "@narthex/postgres"
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import type { Settings } from "./settings/Settings.ts"

/** The catalog does not have the region of `NARTHEX_REGION`. */
export class RegionMissing extends Schema.TaggedError<RegionMissing>()("RegionMissing", {
  region: Schema.String,
  catalog: Schema.Array(Schema.String)
}) {
  override get message() {
    return `NARTHEX_REGION is "${this.region}", but the catalog has ${this.catalog.join(", ") || "no region"}. Add it with \`narthex-server regions add ${this.region}\`, or set another region.`
  }
}

/** The catalog has several regions, and `NARTHEX_REGION` names none of them. */
export class RegionUnset extends Schema.TaggedError<RegionUnset>()("RegionUnset", {
  catalog: Schema.Array(Schema.String)
}) {
  override get message() {
    return `The store has the regions ${this.catalog.join(", ")}, and NARTHEX_REGION is not set. Set it to the region of this process.`
  }
}

const connections = 20

/** `own`: this process runs the embedded store. `attach`: it uses the one that runs, or runs it if there is none. */
export type StoreUse = "own" | "attach"

export const layerDatabase = (settings: Settings, use: StoreUse = "own") => {
  const options = { maxConnections: connections, applicationName: "narthex", schema: settings.schema }
  const off = settings.listen ? {} : { listenUrl: "off" as const }
  if (settings.database !== null) {
    const { listen_url, url } = settings.database
    return Database.layer({ ...options, url, listenUrl: listen_url, ...off })
  }
  const at = (connection: StoreConnection) => Database.layer({ ...options, url: connection.url, ...off })
  const own = Layer.unwrap(Effect.map(EmbeddedPostgres, at)).pipe(
    Layer.provide(EmbeddedPostgres.layer({ dataDir: settings.data_dir, binaries: settings.postgres_bin ?? undefined }))
  )
  return use === "own"
    ? own
    : Layer.unwrap(
        Effect.map(EmbeddedPostgres.running(settings.data_dir), Option.match({ onNone: () => own, onSome: at }))
      )
}

/** At the very first start the catalog gets the regions of the settings; later, operators change it. */
const layerSeeded = ({ regions }: Settings) =>
  Layer.effectDiscard(RegionCatalog.use(({ seed }) => seed(regions.map((id) => RegionId.make(id)))))

/** The region of a process with these settings: that of `NARTHEX_REGION`, or the only one of the catalog. */
export const regionOf = Effect.fnUntraced(function* ({ region }: Settings) {
  const catalog = (yield* (yield* RegionCatalog).all).map((entry) => entry.region.region_id)
  const [only, ...others] = catalog
  if (region === null) return only !== undefined && others.length === 0 ? only : yield* new RegionUnset({ catalog })
  return catalog.find((id) => id === region) ?? (yield* new RegionMissing({ region, catalog }))
})

/** The store cannot be used at the start. `reason` says why, and what to do. */
export class StoreUnusable extends Schema.TaggedError<StoreUnusable>()("StoreUnusable", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

/** Why the store fails, with the variable that names it. */
export const explained =
  ({ database, schema }: Settings) =>
  (error: StorageError) =>
    new StoreUnusable({
      reason:
        database === null
          ? `The embedded store: ${error.line}`
          : whyUnusable(Redacted.value(database.url), "DATABASE_URL", schema)(error).sentence
    })

/** Brings the schema up to date, and does nothing else. Returns the names of the migrations that ran. */
export const migrated = (settings: Settings, use: StoreUse) =>
  Effect.provide(migrate, layerDatabase(settings, use)).pipe(
    Effect.catchTag("StorageError", (error) => Effect.fail(explained(settings)(error)))
  )

/** Every storage port, on a migrated schema. */
export const layerStorage = (settings: Settings, use: StoreUse = "own") =>
  layerSeeded(settings).pipe(
    Layer.provideMerge(PostgresStorage.layer),
    Layer.provideMerge(Layer.effectDiscard(migrate)),
    Layer.provideMerge(layerDatabase(settings, use)),
    Layer.catchTag("StorageError", (error) => Layer.effectContext(Effect.fail(explained(settings)(error))))
  )

/** Whether the store has an account, so that a person has been here before. */
export const hasAccount = Effect.gen(function* () {
  const { users } = yield* AccountStore
  return (yield* users({ limit: 1, after: null })).items.length > 0
})
