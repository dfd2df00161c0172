/**
 * Every port on connections of a host's driver: each statement and each transaction is a call inside a transaction that
 * the driver has begun. The contract of a port does not depend on how a driver represents values, names columns and
 * prepares.
 */
import { StorageError } from "@narthex/core"
import { Effect, Layer } from "effect"
import { HostStatementFailed } from "../../src/driver/Attempt.ts"
import { Database, migrate, PostgresStorage } from "../../src/index.ts"
import { PostgresServer } from "../support/PostgresServer.ts"
import { silent } from "../support/silent.ts"
import { type Host, type hosts, inTransaction, open } from "./hosts.ts"

/** The host runs its transaction again after a deadlock, as the control plane does with its own. */
const undone = (error: unknown) =>
  error instanceof StorageError &&
  error.cause instanceof HostStatementFailed &&
  ["40P01", "40001"].includes(String((error.cause.cause as { readonly code?: unknown }).code))

/** The database whose statements run on the host's connections. */
const through = (database: Database["Service"], host: Host): Database["Service"] => {
  const inside = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | StorageError, R> =>
    Effect.flatMap(database.joined, (joined): Effect.Effect<A, E | StorageError, R> => {
      if (joined) return work
      const call = inTransaction(host, (tx) =>
        Effect.catchIf(
          database.join(tx, work),
          (error) => (error as { readonly _tag?: unknown })._tag === "TransactionRefused",
          Effect.die
        )
      )
      return Effect.retry(call, { times: 4, while: undone }) as Effect.Effect<A, E | StorageError, R>
    })
  return { ...database, query: (...given) => inside(database.query(...given)), transaction: inside }
}

/** A name that has to be quoted, in identifiers and in literals. */
const schema = 'Narthex\'s "own"'

/** The host's search path leads to tables of the same names, which have no column. */
const decoys = `do $$ declare own name; begin
  create schema decoy;
  for own in select relname from pg_class c join pg_namespace n on n.oid = relnamespace
    where relkind = 'r' and nspname = 'Narthex''s "own"'
  loop execute format('create table decoy.%I ()', own); end loop;
  execute format('alter database %I set search_path = decoy', current_database());
end $$`

const database = (kind: (typeof hosts)[keyof typeof hosts]) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const server = yield* PostgresServer
      const url = yield* server.database
      const options = { url, maxConnections: 4, applicationName: "narthex-test", schema }
      yield* Effect.provide(migrate, [Database.layer(options), silent], { local: true })
      yield* server.admin(decoys, url)
      const own = Database.layer(options)
      const hosted = Effect.gen(function* () {
        return Database.of(through(yield* Database, yield* open(kind, url)))
      })
      return Layer.provide(Layer.effect(Database, hosted), own)
    })
  )

export const onHost = (kind: (typeof hosts)[keyof typeof hosts]) =>
  PostgresStorage.layer.pipe(Layer.provideMerge(database(kind)), Layer.provideMerge(PostgresServer.layer))
