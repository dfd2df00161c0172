/**
 * The control plane's own Postgres, a real server under the data directory that lives as long as its scope.
 *
 * One process at a time uses it as its own; a server that a killed process left running is adopted. Whoever else is
 * allowed near it (an operator command beside the running platform) asks `running` for the way in.
 * There is no password: the socket's directory is closed to others and the kernel says who connects.
 */
import { realpath } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Context, Effect, Layer, Option } from "effect"
import { asSupervisor } from "../cluster/asSupervisor.ts"
import { type Cluster, clusterAt, majorOf, makeClusterDirectory, port, superuser } from "../cluster/Cluster.ts"
import { copyStopped } from "../cluster/ClusterCopy.ts"
import { hasData, putData } from "../cluster/ClusterData.ts"
import { clusterTemplate } from "../cluster/ClusterTemplate.ts"
import { lockDirectory } from "../machine/DirectoryLock.ts"
import { attempt, type LocalPostgresFailure } from "../machine/LocalPostgresError.ts"
import { findMachine, type LocalPostgresOptions, openDataDirectory } from "../machine/Machine.ts"
import { findPostmaster, startPostgres, stopPostgres } from "../cluster/PostgresProcess.ts"
import { fits, openSocketLinks, socketPathIn } from "../cluster/SocketLinks.ts"

/** The way into the store. */
export interface StoreConnection {
  /** The unix socket itself. */
  readonly path: string
  /** Its directory, which libpq and others call the host. */
  readonly host: string
  readonly port: number
  readonly database: string
  readonly username: string
}

const database = "narthex"
const linkName = "store"

export class EmbeddedPostgres extends Context.Service<EmbeddedPostgres, StoreConnection>()(
  "@narthex/local-postgres/EmbeddedPostgres"
) {
  /** Starts or adopts the server, and stops it when the scope closes. */
  static readonly layer = (options: LocalPostgresOptions): Layer.Layer<EmbeddedPostgres, LocalPostgresFailure> =>
    Layer.effect(EmbeddedPostgres, start(options))

  /** The store of a data directory, if somebody runs it now. Starts nothing. */
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
    yield* putData(cluster, (making) => copyStopped(template, making))
  }
  yield* Effect.addFinalizer(() =>
    Effect.catch(stopPostgres(cluster), (error) => Effect.logError("The embedded Postgres keeps running", error))
  )
  yield* startPostgres(cluster, machine)
  yield* asSupervisor(cluster, "postgres", (sql) =>
    Effect.gen(function* () {
      const there = yield* sql`SELECT FROM pg_database WHERE datname = ${database}`
      if (there.length === 0) yield* sql`CREATE DATABASE ${sql(database)}`
    })
  )
  return yield* connectionTo(dataDir, cluster)
})

/** The socket by its own path, or by a shorter one where that is too long. */
const connectionTo = Effect.fnUntraced(function* (dataDir: string, cluster: Cluster) {
  const own = socketPathIn(cluster.run)
  const path = fits(own) ? own : yield* (yield* openSocketLinks(dataDir)).put(linkName, cluster)
  return { path, host: dirname(path), port, database, username: superuser } satisfies StoreConnection
})
