/**
 * Forces the order of a race on Postgres: the first transaction has done everything but its COMMIT, the others begin
 * and wait for it, then it commits. So the others always meet the locks of the first and run after it.
 *
 * `layerHeld` puts a barrier before COMMIT. It holds only the effect that `inOrder` runs first.
 */
import { Database } from "@narthex/postgres"
import { Context, Deferred, Effect, Fiber, Layer, type Result } from "effect"
import { eventually } from "../../harness/eventually.ts"

interface Gate {
  /** Gets the server process of the transaction that waits here. */
  readonly reached: Deferred.Deferred<number>
  readonly open: Deferred.Deferred<void>
}

const Held = Context.Reference<Gate | undefined>("test/races/Held", { defaultValue: () => undefined })

/** The database, with a barrier before each COMMIT. */
export const layerHeld = Layer.effect(
  Database,
  Effect.map(Database, (database) => {
    const stop = ({ open, reached }: Gate) =>
      Effect.gen(function* () {
        const [row] = yield* database.query<{ readonly pid: number }>("test", "select pg_backend_pid() as pid")
        yield* Deferred.succeed(reached, row?.pid ?? 0)
        yield* Deferred.await(open)
      })
    return Database.of({
      ...database,
      transaction: (work) =>
        Effect.flatMap(Held, (gate) => {
          if (gate === undefined) return database.transaction(work)
          // Only the outermost transaction commits: those inside do not stop.
          const inside = Effect.provideService(work, Held, undefined)
          return database.transaction(Effect.tap(inside, () => stop(gate)))
        })
    })
  })
)

/** Server processes that wait for `$1`, directly or not: of several waiters only the first waits for the holder. */
const waiters = `
  with recursive waiting as (
    select pid, pg_blocking_pids(pid) as behind from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'
  ), found as (
    select pid from waiting where $1 = any (behind)
    union select waiting.pid from waiting join found on found.pid = any (waiting.behind)
  )
  select pid from found`

export interface Ordered<A, E, A2, E2> {
  readonly first: Result.Result<A, E>
  readonly others: ReadonlyArray<Result.Result<A2, E2>>
}

/**
 * Runs `first` up to its COMMIT, starts the others, and lets it commit once each of them waits for it in Postgres.
 * If one ends without waiting, the effect dies: it passed a lock that it should have met.
 *
 * Pitfall: more others than connections. The others would wait for a connection, not for the first.
 */
export const inOrder = <A, E, R, A2, E2, R2>(
  first: Effect.Effect<A, E, R>,
  others: ReadonlyArray<Effect.Effect<A2, E2, R2>>
): Effect.Effect<Ordered<A, E, A2, E2>, never, R | R2 | Database> =>
  Effect.gen(function* () {
    const { query } = yield* Database
    const gate: Gate = { reached: yield* Deferred.make<number>(), open: yield* Deferred.make<void>() }
    const leading = yield* Effect.forkChild(Effect.result(Effect.provideService(first, Held, gate)))
    yield* eventually(
      "the first to reach its COMMIT",
      Effect.sync(() => Deferred.isDoneUnsafe(gate.reached) || leading.pollUnsafe() !== undefined)
    )
    if (!Deferred.isDoneUnsafe(gate.reached)) {
      const outcome = yield* Fiber.join(leading)
      return yield* Effect.die(new Error(`The first never reached its COMMIT: ${String(outcome)}`))
    }
    const holder = yield* Deferred.await(gate.reached)

    let passed = 0
    const follow = (other: Effect.Effect<A2, E2, R2>) =>
      Effect.tap(Effect.result(other), () =>
        Effect.sync(() => {
          passed += 1
        })
      )
    const following = yield* Effect.forkChild(Effect.forEach(others, follow, { concurrency: "unbounded" }))
    const waiting = Effect.map(query("test", waiters, [holder]), (rows) => rows.length)
    yield* eventually(
      `the other ${others.length} to wait for the first in Postgres`,
      Effect.map(waiting, (count) => passed > 0 || count >= others.length)
    )
    const early = passed
    yield* Deferred.succeed(gate.open, undefined)
    const outcomes = { first: yield* Fiber.join(leading), others: yield* Fiber.join(following) }
    if (early > 0)
      return yield* Effect.die(new Error(`${early} of ${others.length} ended without waiting for the first.`))
    return outcomes
  }).pipe(Effect.catchTag("StorageError", Effect.die))
