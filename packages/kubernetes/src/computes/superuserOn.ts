/**
 * Sessions of the superuser on the server of a cluster, over TLS that is verified against the authority of this cluster.
 *
 * A session names the fence of its call. `endEarlier` ends those with a lower one, and each session of a fenced call checks
 * its fence after it has begun. So a call that was overtaken changes nothing: its session either began before the later call
 * wrote its fence, and is ended, or it finds that fence.
 */
import { PgClient } from "@effect/sql-pg"
import { type AsSuperuser, type SessionLimits, sqlstateOf } from "@narthex/compute-roles"
import { ComputeFence } from "@narthex/core"
import { Effect, Option, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlError } from "effect/sql"
import type { ApiClient } from "../api/ApiClient.ts"
import type { LivePod } from "../objects/clusterState.ts"
import { serverName } from "../objects/names.ts"
import { secrets } from "../objects/resources.ts"
import { again, SessionFailed } from "./failures.ts"

export const port = 5432

/** A server that runs, and how the superuser logs in. */
export interface Server {
  readonly pod: LivePod
  /** PEM text of the authority of the cluster. */
  readonly ca: string
  readonly password: Redacted.Redacted
}

const secretOf = Effect.fnUntraced(function* (
  client: Pick<ApiClient, "get">,
  namespace: string,
  name: string,
  key: string
) {
  const found = Option.getOrUndefined(yield* client.get(secrets, namespace, name))
  const value = found?.data?.[key]
  if (value === undefined) return yield* again("The database server is not ready.", `The secret ${name} has no ${key}.`)
  return Buffer.from(value, "base64").toString("utf8")
})

/** The authority that has signed the certificate of a cluster's server. */
export const authorityOf = (client: Pick<ApiClient, "get">, { cluster, namespace }: LivePod) =>
  secretOf(client, namespace, `${cluster}-ca`, "ca.crt")

export const serverOn = Effect.fnUntraced(function* (client: Pick<ApiClient, "get">, pod: LivePod) {
  const password = secretOf(client, pod.namespace, `${pod.cluster}-superuser`, "password")
  const [ca, secret] = yield* Effect.all([authorityOf(client, pod), password], { concurrency: 2 })
  const server: Server = { pod, ca, password: Redacted.make(secret) }
  return server
})

const shortStatements: SessionLimits = { statement_timeout: "30s", lock_timeout: "1s" }
const connectWithin = "10 seconds"
const application = "narthex"

const isSqlError = (error: unknown): error is SqlError.SqlError =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "SqlError"

const describe = (error: SqlError.SqlError) => {
  const { cause } = error.reason
  return cause instanceof Error ? cause.message : error.message
}

/** `confirm` fails when a later call has taken the branch over. */
export const superuserOn =
  (
    { ca, password, pod }: Server,
    confirm: Effect.Effect<void, { readonly message: string }>
  ): AsSuperuser<SessionFailed> =>
  (use, limits = shortStatements) =>
    Effect.gen(function* () {
      const fence = yield* ComputeFence
      const sql = yield* PgClient.makeClient({
        host: pod.ip,
        port,
        ssl: { ca, servername: serverName(pod.cluster, pod.namespace) },
        database: "postgres",
        username: "postgres",
        password,
        applicationName: fence === null ? application : `${application} ${fence}`,
        connectTimeout: connectWithin,
        startupParameters: {
          // Users own the schema `public`: the superuser's statements must not call their functions.
          search_path: "pg_catalog, pg_temp",
          // Postgres would log a failed statement with its text, and some statements contain a verifier.
          log_min_error_statement: "panic",
          ...limits
        }
      })
      if (fence !== null) {
        yield* sql`SELECT 1`
        yield* Effect.mapError(confirm, ({ message }) => new SessionFailed({ reason: message, busy: true }))
      }
      return yield* use(sql)
    }).pipe(
      Effect.scoped,
      Effect.provide(Reactivity.layer),
      Effect.catchIf(isSqlError, (error) =>
        Effect.fail(new SessionFailed({ reason: describe(error), sqlstate: sqlstateOf(error) }))
      )
    )

/** Ends the sessions of calls with a lower fence than that of this call, and waits for their end. */
export const endEarlier = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const fence = yield* ComputeFence
  if (fence === null) return
  yield* sql`
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE usename = current_user AND pid <> pg_backend_pid()
      AND (substring(application_name from ${`^${application} (\\d{1,15})$`}))::bigint < ${fence}::bigint`
})
