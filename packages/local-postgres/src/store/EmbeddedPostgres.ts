/**
 * The embedded Postgres of the control plane: a real server under the data directory that runs as long as its scope.
 *
 * One process at a time owns it; a server that a killed process left running is adopted. Other processes of the same
 * user, such as an operator's command, connect through `running`: they can read the secret of the cluster.
 */
import { realpath } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { asSupervisor } from "../cluster/asSupervisor.ts"
import { type Cluster, clusterAt, majorOf, makeClusterDirectory, port, superuser } from "../cluster/Cluster.ts"
import { copyStopped } from "../cluster/ClusterCopy.ts"
import { hasData, putData } from "../cluster/ClusterData.ts"
import { clusterTemplate } from "../cluster/ClusterTemplate.ts"
import { findPostmaster, startPostgres, stopPostgres } from "../cluster/PostgresProcess.ts"
import { fits, openSocketLinks, socketPathIn } from "../cluster/SocketLinks.ts"
import { secretOf, settleData } from "../cluster/SupervisorSecret.ts"
import { lockDirectory } from "../machine/DirectoryLock.ts"
import { attempt, type LocalPostgresFailure } from "../machine/LocalPostgresError.ts"
import { findMachine, type LocalPostgresOptions, openDataDirectory } from "../machine/Machine.ts"

/** How to connect to the store: over a Unix socket, with the secret of its cluster. */
export interface StoreConnection {
  /** The path of the socket. */
  readonly path: string
  /** The directory of the socket, which libpq calls the host. */
  readonly host: string
  readonly port: number
  readonly database: string
  readonly username: string
  /** `undefined`: a version that trusted the account of this process has started the server. */
  readonly password: Redacted.Redacted | undefined
  /** All of it. */
  readonly url: Redacted.Redacted
}

const database = "narthex"
const linkName = "store"

/**
 * The embedded store: a Postgres server of this process.
 *
 * @example
 * import { EmbeddedPostgres } from "@narthex/local-postgres"
 * import { Effect } from "effect"
 * export const connection = EmbeddedPostgres.use(({ host, port }) => Effect.succeed({ host, port })).pipe(
 *   Effect.provide(EmbeddedPostgres.layer({ dataDir: "./.narthex" }))
 * )
 */
export class EmbeddedPostgres extends Context.Service<EmbeddedPostgres, StoreConnection>()(
  "@narthex/local-postgres/EmbeddedPostgres"
) {
  /** Starts or adopts the server, and stops it when the scope closes. */
  static readonly layer = (options: LocalPostgresOptions): Layer.Layer<EmbeddedPostgres, LocalPostgresFailure> =>
    Layer.effect(EmbeddedPostgres, start(options))

  /** The connection to the store of a data directory, if its server is running. Starts nothing. */
  static readonly running = Effect.fn("EmbeddedPostgres.running")(function* (dataDir: string) {
    const real = yield* Effect.option(attempt(`Opening ${dataDir}`, () => realpath(dataDir)))
    if (Option.isNone(real)) return Option.none()
    const cluster = storeOf(real.value)
    if (Option.isNone(yield* findPostmaster(cluster))) return Option.none()
    return Option.some(yield* connectionTo(real.value, cluster))
  })
}

const storeOf = (dataDir: string) => clusterAt(join(dataDir, "postgres"), "store")

const start = Effect.fn("EmbeddedPostgres.start")(function* (options: LocalPostgresOptions) {
  const dataDir = yield* openDataDirectory(options.dataDir)
  const cluster = storeOf(dataDir)
  yield* makeClusterDirectory(cluster)
  yield* lockDirectory(cluster.directory)
  const major = Option.getOrUndefined(yield* Effect.option(majorOf(cluster.data)))
  const machine = yield* findMachine(options, major)
  if (!(yield* hasData(cluster))) {
    const template = yield* clusterTemplate(dataDir, machine)
    const make = (making: string) =>
      Effect.andThen(copyStopped(template, making), settleData(cluster, making, machine, machine.user.owner))
    yield* putData(cluster, make, Effect.void)
  }
  yield* Effect.addFinalizer(() =>
    Effect.catch(stopPostgres(cluster), (error) =>
      Effect.logError("The embedded Postgres could not be stopped and is still running.", error)
    )
  )
  yield* startPostgres(cluster, machine)
  yield* asSupervisor(cluster, "postgres", (sql) =>
    Effect.gen(function* () {
      const existing = yield* sql`SELECT FROM pg_database WHERE datname = ${database}`
      if (existing.length === 0) yield* sql`CREATE DATABASE ${sql(database)}`
    })
  )
  return yield* connectionTo(dataDir, cluster)
})

/** The connection over the socket's own path, or over a shorter link when that path is too long. */
const connectionTo = Effect.fnUntraced(function* (dataDir: string, cluster: Cluster) {
  const own = socketPathIn(cluster.run)
  const path = fits(own) ? own : yield* (yield* openSocketLinks(dataDir)).put(linkName, cluster)
  const password = yield* secretOf(cluster)
  const host = dirname(path)
  const proof = password === undefined ? "" : `&password=${Redacted.value(password)}`
  const url = Redacted.make(`postgresql:///${database}?host=${encodeURIComponent(host)}&user=${superuser}${proof}`)
  return { path, host, port, database, username: superuser, password, url } satisfies StoreConnection
})
