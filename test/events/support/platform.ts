/** Several API processes on one Postgres, and a way for the test to commit events too. */
import { OrgId, ProjectId, Transaction } from "@narthex/core"
import { Database, migrate, PostgresStorage } from "@narthex/postgres"
import { Effect, Layer, Redacted, References, type Scope } from "effect"
import { PostgresServer } from "../../../packages/postgres/test/support/PostgresServer.ts"
import { type ApiOptions, ApiProcess, type ProcessServing } from "./ApiProcesses.ts"

const silent = Layer.succeed(References.MinimumLogLevel, "None")

/** A new migrated database, and the stores on it for the test. */
export const stores = (url: Redacted.Redacted<string>) =>
  PostgresStorage.layer.pipe(
    Layer.provideMerge(Layer.effectDiscard(migrate)),
    Layer.provideMerge(Database.layer({ url, maxConnections: 6, applicationName: "narthex-test" })),
    Layer.provideMerge(silent)
  )

/** Starts an API process for each of these; the scope kills them. */
export const apisServing = (
  url: Redacted.Redacted<string>,
  servings: ReadonlyArray<ProcessServing>,
  options: ApiOptions = {}
): Effect.Effect<ReadonlyArray<ApiProcess>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const made = servings.map((serving) => new ApiProcess(Redacted.value(url), { ...options, serving }))
    yield* Effect.addFinalizer(() => Effect.promise(() => Promise.all(made.map((api) => api.kill()))))
    yield* Effect.promise(() => Promise.all(made.map((api) => api.start())))
    return made
  })

/** Starts this many servers. */
export const apis = (url: Redacted.Redacted<string>, count: number, options: ApiOptions = {}) =>
  apisServing(
    url,
    Array.from({ length: count }, () => "server"),
    options
  )

export const freshDatabase = Effect.flatMap(PostgresServer, ({ migrated }) => migrated)

/** Commits events of an operation in one transaction. */
export const commit = (org: string, project: string | null, numbers: ReadonlyArray<number>, size = 0) =>
  Effect.flatMap(Transaction, ({ emit, run }) =>
    run(
      Effect.forEach(
        numbers,
        (n) =>
          emit({
            org_id: OrgId.make(org),
            project_id: project === null ? null : ProjectId.make(project),
            type: "operation.updated.v1",
            source: "operations",
            internal: false,
            data: {
              operation_id: `op-${n}`,
              action: "start",
              status: "finished",
              n,
              ...(size === 0 ? {} : { pad: "x".repeat(size) })
            }
          }),
        { discard: true }
      )
    )
  )

/** The client-visible events of an organization after a position of the log, with ids ascending. */
export const logged = (org: string, after = 0) =>
  Effect.flatMap(Database, ({ query }) =>
    query<{ readonly id: string; readonly project_id: string | null; readonly n: number | null }>(
      "test",
      "select id, project_id, (data->>'n')::int as n from narthex.event_log where org_id = $1 and pos > $2 and not internal order by id",
      [org, after]
    )
  )
