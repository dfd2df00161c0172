/** Calls of tests inside a host's transaction, and reads after it. */
import { AccountStore, EventLog, type Organization, Transaction, TransactionRefused } from "@narthex/core"
import { Cause, Effect, Exit, Layer, Option } from "effect"
import { event, numbers, settle } from "../../../core/testing/events/logFixtures.ts"
import { Database, PostgresStorage } from "../../src/index.ts"
import { PostgresServer } from "../support/PostgresServer.ts"
import { testDatabase } from "../support/TestDatabase.ts"
import { type hosts, open } from "./hosts.ts"

export const storage = PostgresStorage.layer.pipe(Layer.provideMerge(testDatabase))

export const named = Effect.gen(function* () {
  const { query } = yield* Database
  const [row] = yield* query<{ readonly name: string }>("test", "select current_database() as name")
  return row?.name ?? ""
})

export const url = Effect.gen(function* () {
  return (yield* PostgresServer).url(yield* named)
})

/** A host on the test's database, with a table of its own. */
export const started = (kind: (typeof hosts)[keyof typeof hosts]) =>
  Effect.gen(function* () {
    const { query } = yield* Database
    yield* query("test", "create table if not exists invoice (n int)")
    yield* query("test", "truncate invoice")
    return yield* open(kind, yield* url)
  })

export const invoices = Effect.flatMap(Database, ({ query }) =>
  Effect.map(query<{ readonly n: number }>("test", "select n from invoice order by n"), (rows) =>
    rows.map((it) => it.n)
  )
)

/** A change and its event. */
export const change = (org: Organization, n = 1) =>
  Effect.gen(function* () {
    yield* (yield* AccountStore).putOrganization(org)
    yield* (yield* Transaction).emit(event(org.id, null, n))
  })

export const within = <A, E, R>(tx: object, work: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Transaction, (transaction) => transaction.within(tx, work))

export const exists = ({ id }: Organization) =>
  Effect.flatMap(AccountStore, (accounts) => Effect.map(accounts.findOrganization(id), Option.isSome))

/** The logged events of an organization, after everything committed is sequenced. */
export const logged = ({ id }: Organization) =>
  Effect.gen(function* () {
    yield* settle
    return numbers((yield* (yield* EventLog).window(id, 100)).events)
  })

export const refusal = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.exit(work), (exit) => {
    const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    return error instanceof TransactionRefused ? error.code : error
  })
