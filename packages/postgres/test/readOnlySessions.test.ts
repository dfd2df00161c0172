/** Sessions whose server has become read-only, as a primary does at a fail-over. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Database } from "../src/index.ts"
import { insert, numbers, table } from "./support/observe.ts"
import { PostgresServer } from "./support/PostgresServer.ts"

/** One session for statements and transactions. */
const oneSession = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* (yield* PostgresServer).database
    return Database.layer({ url, maxConnections: 1, applicationName: "narthex-test" })
  })
).pipe(Layer.provide(PostgresServer.layer))

const becomesReadOnly = Database.use(({ query }) => query("test", "set default_transaction_read_only = on"))

const session = Database.use(({ query }) => query<{ readonly pid: number }>("test", "select pg_backend_pid() as pid"))

layer(oneSession, { excludeTestServices: true })("a session that became read-only", (it) => {
  it.effect("a statement that is refused as read-only runs again on a new session", () =>
    Effect.gen(function* () {
      yield* table("single")
      const before = yield* session
      yield* becomesReadOnly
      yield* insert("single", 1)
      assert.deepStrictEqual(yield* numbers("single"), [1])
      assert.notDeepEqual(yield* session, before)
    })
  )

  it.effect("a transaction that is refused as read-only runs again from its start on a new session", () =>
    Effect.gen(function* () {
      const { transaction } = yield* Database
      yield* table("whole")
      yield* becomesReadOnly
      let runs = 0
      const work = Effect.gen(function* () {
        runs += 1
        yield* insert("whole", 1)
        return yield* insert("whole", 2)
      })
      yield* transaction(work)
      assert.deepStrictEqual([yield* numbers("whole"), runs], [[1, 2], 2])
    })
  )

  it.effect("a change that every session refuses fails after five attempts", () =>
    Effect.gen(function* () {
      const { query, transaction } = yield* Database
      yield* table("refused")
      let runs = 0
      const work = Effect.gen(function* () {
        runs += 1
        yield* query("test", "set transaction read only")
        yield* insert("refused", 1)
      })
      const { failure } = yield* Effect.flip(transaction(work))
      assert.deepStrictEqual([failure.code, runs], ["25006", 5])
    })
  )
})
