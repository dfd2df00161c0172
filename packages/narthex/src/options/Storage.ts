/**
 * Where a control plane keeps its state: in memory, in Postgres, or in anything that has the ports of the core.
 *
 * Pitfall: importing the Postgres adapter here. A program in memory, on a worker for example, would load a driver.
 */
import type { NarthexError } from "@narthex/api"
import { layerMemoryPorts, type StorageError } from "@narthex/core"
import type { readConnectionUrl } from "@narthex/postgres"
import { Effect, Layer, Redacted, Result } from "effect"
import { invalidOptions } from "../failures/failures.ts"
import { expecting, objectOf, optional, problemOf, text, wholeFrom1 } from "../failures/forms.ts"
import { postgresFailure } from "./postgresFailure.ts"

/** The ports that a storage provides. Their suites are in `@narthex/core/testing`. */
export type StoragePorts = Layer.Success<typeof layerMemoryPorts>

export interface Storage {
  /** Whether the state outlives the process. If so, the control plane needs a `secret` that does, too. */
  readonly durable: boolean
  readonly layer: Layer.Layer<StoragePorts, StorageError | NarthexError>
}

/**
 * State that ends with the control plane. The default.
 *
 * @example
 * import { createControlPlane, memory } from "narthex"
 * await using cp = await createControlPlane({ storage: memory() })
 */
export const memory = (): Storage => ({ durable: false, layer: Layer.fresh(layerMemoryPorts) })

export interface PostgresOptions {
  /**
   * The schema of all tables, which is made if there is none. Control planes on one database with different schemas have
   * nothing in common. Default: `narthex`.
   */
  readonly schema?: string
  /** The most connections for statements and transactions. Shared reads use up to four more, and LISTEN one. Default: 20. */
  readonly maxConnections?: number
  /**
   * The direct URL for LISTEN where `url` leads through a pooler, or `off` for none: then the log is polled. It is
   * tried at the start, and has to lead to the same database.
   */
  readonly listenUrl?: string
  /** The name of the sessions on the server. Default: `narthex`. */
  readonly applicationName?: string
}

const sessionName = expecting(
  "text without NUL characters that is not empty",
  (it) => typeof it === "string" && /^[^\0]+$/.test(it)
)
const optionsForm = objectOf<PostgresOptions>({
  maxConnections: optional(wholeFrom1),
  listenUrl: optional(text),
  applicationName: optional(sessionName),
  schema: optional(text)
})
const urlForm = expecting("the URL of a Postgres database", (it) => typeof it === "string")

const problemIn = (url: string, options: PostgresOptions, read: typeof readConnectionUrl) => {
  const problem = problemOf("storage", url, urlForm) ?? problemOf("storage", options, optionsForm)
  if (problem !== undefined) return problem
  const urls = [["storage", url] as const, ["storage.listenUrl", options.listenUrl ?? "off"] as const]
  return urls
    .filter(([, given]) => given !== "off")
    .map(([option, given]) =>
      Result.match(read(given), { onFailure: (why) => `${option}: ${why}`, onSuccess: () => undefined })
    )
    .find((found) => found !== undefined)
}

/** The identity of a database: its name, and when its server started. */
const place =
  "select current_database() as database, extract(epoch from pg_postmaster_start_time())::text as server_started"

interface Place {
  readonly database: string
  readonly server_started: string
}

/**
 * Fails unless notifications of the database arrive by this URL: it is tried, and leads to the same database.
 *
 * Pitfall: leaving it out. A wrong URL would start, and every event be late by the interval of polling.
 */
const listenable = (url: string, applicationName: string) =>
  Effect.gen(function* () {
    const { Database, whyUnusable } = yield* Effect.promise(() => import("@narthex/postgres"))
    const asked = Database.use(({ query }) => query<Place>("postgres.listenUrl", place))
    const direct = Database.layer({ url: Redacted.make(url), maxConnections: 1, applicationName, listenUrl: "off" })
    const [there] = yield* asked.pipe(
      Effect.provide(direct, { local: true }),
      Effect.mapError((error) => postgresFailure(whyUnusable(url, "storage.listenUrl")(error)))
    )
    const [here] = yield* asked
    if (here?.database === there?.database && here?.server_started === there?.server_started) return
    return yield* Effect.fail(
      invalidOptions(
        "storage.listenUrl: it leads to another database than the URL of the storage. Give the direct URL of the same database, or leave it out."
      )
    )
  })

/**
 * State in Postgres 15 or newer, under any number of processes. The schema is brought up to date at each start. A wrong
 * URL, database or user is `invalid_options` when the control plane is made; a server that cannot be reached or used
 * now is `unavailable`. Both errors say what to do.
 *
 * @example
 * import { createControlPlane, postgres } from "narthex"
 * const storage = postgres("postgresql://localhost/shop", { maxConnections: 10 })
 * await using cp = await createControlPlane({ storage, secret: process.env["NARTHEX_SECRET"] ?? "" })
 */
export const postgres = (url: string, options: PostgresOptions = {}): Storage => ({
  durable: true,
  layer: Layer.unwrap(
    Effect.gen(function* () {
      const {
        Database,
        defaultSchema,
        formOfSchema,
        isSchemaName,
        migrate,
        PostgresStorage,
        readConnectionUrl,
        whyUnusable
      } = yield* Effect.promise(() => import("@narthex/postgres"))
      const problem = problemIn(url, options, readConnectionUrl)
      if (problem !== undefined) return yield* Effect.fail(invalidOptions(problem))
      const { applicationName = "narthex", listenUrl, maxConnections = 20, schema = defaultSchema } = options
      if (!isSchemaName(schema)) return yield* Effect.fail(invalidOptions(`storage.schema: expected ${formOfSchema}.`))
      const listening =
        listenUrl === undefined ? {} : { listenUrl: listenUrl === "off" ? ("off" as const) : Redacted.make(listenUrl) }
      const direct =
        listenUrl === undefined || listenUrl === "off" ? Effect.void : listenable(listenUrl, applicationName)
      return PostgresStorage.layer.pipe(
        Layer.provide(Layer.effectDiscard(Effect.andThen(direct, migrate))),
        Layer.provideMerge(
          Database.layer({ url: Redacted.make(url), maxConnections, applicationName, schema, ...listening })
        ),
        Layer.catchTag("StorageError", (error) =>
          Layer.effectContext(Effect.fail(postgresFailure(whyUnusable(url, "storage", schema)(error))))
        )
      )
    })
  )
})
