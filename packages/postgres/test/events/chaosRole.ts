/**
 * One process of the chaos test: `node chaosRole.ts <writer|sequencer|tailer> <url> <position> <seed>`. It works until
 * it is killed, prints a line for each piece of work, and retries every failure.
 *
 * - `writer`: runs transactions that change a row under its lock and emit the new version, with pauses between the
 *   steps, early transaction ids and rollbacks, so that commits overlap in every order.
 * - `sequencer`: calls the sequencing function in a loop.
 * - `tailer`: prints the events after its position, a line of JSON for each batch.
 */
import { writeSync } from "node:fs"
import { EventLog, type NewEvent, OrgId, Transaction } from "@narthex/core"
import { Effect, Layer, Random, Redacted } from "effect"
import { randomFrom } from "../../../../test/harness/seed.ts"
import { Database, PostgresEventLog, PostgresTransaction } from "../../src/index.ts"
import { silent } from "../support/silent.ts"
import { operations, orgOf, type Seen } from "./chaosModel.ts"

const [role = "", url = "", position = "0", seed = ""] = process.argv.slice(2)
Math.random = randomFrom(seed)

const did = Effect.sync(() => writeSync(1, "did\n"))

const workers = 4
const sometimes = (chance: number) => Effect.map(Random.next, (it) => it < chance)
const dawdle = Effect.flatMap(sometimes(0.3), (slow) =>
  slow ? Effect.flatMap(Random.nextIntBetween(0, 20), (millis) => Effect.sleep(millis)) : Effect.void
)

const updated = (op: number, version: number): NewEvent => ({
  org_id: OrgId.make(orgOf(op)),
  project_id: null,
  type: "operation.updated.v1",
  source: "operations",
  internal: false,
  data: { op, version }
})

const work = Effect.gen(function* () {
  const { query } = yield* Database
  const { emit, run } = yield* Transaction
  const bump = Effect.fnUntraced(function* (op: number) {
    const [row] = yield* query<{ readonly version: number }>(
      "chaos.bump",
      "update chaos set version = version + 1 where op = $1 returning version",
      [op]
    )
    if (row !== undefined) yield* emit(updated(op, row.version))
    yield* dawdle
  })
  const first = yield* Random.nextIntBetween(0, operations - 1)
  yield* run(
    Effect.gen(function* () {
      if (yield* sometimes(0.3)) yield* query("chaos.early", "select pg_current_xact_id()::text")
      yield* dawdle
      yield* bump(first)
      if (yield* sometimes(0.2)) yield* bump(first + 1)
      if (yield* sometimes(0.1)) return yield* Effect.fail("rolled back")
    })
  )
})

const again = <A, E, R>(it: Effect.Effect<A, E, R>) => Effect.forever(Effect.catch(it, () => Effect.sleep(10)))

const tail = Effect.gen(function* () {
  const log = yield* EventLog
  let cursor = Number(position)
  const step = Effect.gen(function* () {
    const batch = yield* log.tail(cursor, 200)
    if (batch.length === 0) return yield* Effect.sleep(10)
    const seen = batch.map(({ data, id, pos }): Seen => [pos, id, Number(data["op"]), Number(data["version"])])
    // Written synchronously: a printed event counts as read, even when the process dies right after it.
    writeSync(1, `${JSON.stringify(seen)}\n`)
    cursor = batch.at(-1)?.pos ?? cursor
  })
  return yield* again(step)
})

const roles: Record<string, Effect.Effect<unknown, never, Database | EventLog | Transaction>> = {
  writer: Effect.all(
    Array.from({ length: workers }, () => again(Effect.andThen(work, did))),
    { concurrency: "unbounded" }
  ),
  sequencer: again(
    Effect.flatMap(EventLog, ({ sequence }) =>
      Effect.flatMap(sequence, (state) =>
        state === "more" ? did : Effect.andThen(state === "idle" ? did : Effect.void, Effect.sleep(2))
      )
    )
  ),
  tailer: tail
}

const chosen = roles[role]
if (chosen === undefined) throw new Error(`There is no role ${role}.`)

const database = Database.layer({ url: Redacted.make(url), maxConnections: workers, applicationName: "narthex-chaos" })

await Effect.runPromise(
  chosen.pipe(
    Effect.provide(
      PostgresTransaction.layer.pipe(
        Layer.provideMerge(PostgresEventLog.layer),
        Layer.provideMerge(database),
        Layer.provideMerge(silent)
      )
    )
  )
)
