/**
 * Idle computes with everything real: a proxy, a server that is killed and comes back, computes, and a query of an hour under
 * a suspend time-out of one second. Holds docs/design/proxy.md P26 and P33.
 *
 * Nothing here waits for a time to pass: the store's clock decides, and the test moves what it has recorded back.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { eventually, within } from "../harness/eventually.ts"
import { sqlstate } from "../hostile/support/Session.ts"
import { Computes, type Place } from "./support/Computes.ts"
import { Serving } from "./support/Serving.ts"

const stored = (text: string) =>
  Effect.gen(function* () {
    const { admin } = yield* PostgresServer
    return yield* admin(text, (yield* Serving).database)
  })

/** An hour passes in which reports were received and the computes ran. */
const hourPasses = Effect.andThen(
  stored("update report_reception set since = since - interval '1 hour'"),
  stored("update endpoint set ran_since = ran_since - interval '1 hour'")
)

/** Whether a proxy has reported of both since reports can be received again. */
const bothReported = ({ endpoint: one }: Place, { endpoint: other }: Place) =>
  Effect.map(
    stored(`select count(*)::int as n from endpoint_use u, report_reception r
      where u.endpoint_id in ('${one}', '${other}') and u.connections > 0 and u.reported_at > r.since`),
    ([row]) => row?.["n"] === 2
  )

/** Milliseconds between two questions to the API, whose rate is 16 a second. */
const asked = { every: 200 }

/** Milliseconds for two starts of a server and four of computes, on a loaded machine. The limit only detects hangs. */
const patience = 300_000

layer(Computes.layer, { excludeTestServices: true })("idle computes", (it) => {
  it.effect(
    "a busy compute is not suspended, an outage of the API suspends none, and idle ones are suspended",
    () =>
      Effect.gen(function* () {
        const { call, kill, place, restart, session, stateOf } = yield* Computes
        const [busy, quiet] = [yield* place, yield* place]
        const allow = ({ endpoint, path }: Place, suspend_timeout_seconds: number) =>
          call("PATCH", `${path}/endpoints/${endpoint}`, { suspend_timeout_seconds })
        yield* allow(busy, 1)
        yield* allow(quiet, 1)
        const isSuspended = (of: Place) => Effect.map(stateOf(of), (state) => state === "idle")

        const working = yield* session(busy)
        const ended = working.query("select pg_sleep(3600)").then(
          () => "finished",
          (error: unknown) => sqlstate(error) ?? String(error)
        )
        let resting = yield* session(quiet)
        /** The compute is used, and then it is not: the proxy reports both at once. It may be suspended already. */
        const restsAfterAnHour = Effect.suspend(() => {
          resting.query("select 1").catch(() => undefined)
          return hourPasses
        })
        yield* restsAfterAnHour
        yield* eventually("the idle compute to be suspended", isSuspended(quiet), asked)
        assert.strictEqual(yield* stateOf(busy), "active")

        resting.close()
        yield* allow(quiet, 3_600) // until the outage
        resting = yield* session(quiet)
        yield* kill
        // The outage is a long one, however fast the server comes back.
        yield* stored("update report_reception set seen_at = seen_at - interval '1 minute'")
        yield* restart
        yield* allow(quiet, 1)
        yield* eventually("the proxy to report again", bothReported(busy, quiet))
        const [now] = yield* stored(`select bool_and(e.current_state = 'active') as run,
          bool_and(clock_timestamp() - r.since < interval '30 seconds') as settling
        from endpoint e, report_reception r where e.id in ('${busy.endpoint}', '${quiet.endpoint}')`)
        assert.isTrue(now?.["run"] === true || now?.["settling"] === false, "nothing is suspended after an outage")
        assert.isFalse(working.hasEnded(), "the query goes on without the API")

        yield* restsAfterAnHour
        yield* eventually("the idle compute to be suspended", isSuspended(quiet), asked)
        assert.strictEqual(yield* stateOf(busy), "active")
        assert.isFalse(working.hasEnded())

        const canceller = yield* session(busy)
        yield* Effect.promise(() => canceller.query("set role none")) // the role of all writers may not cancel
        const named = "query like '%pg_sleep(3600)%' and pid <> pg_backend_pid()"
        const cancelled = canceller.query(`select pg_cancel_backend(pid) from pg_stat_activity where ${named}`)
        assert.lengthOf(yield* Effect.promise(() => within("the query to be found", cancelled)), 1)
        assert.strictEqual(yield* Effect.promise(() => within("the query to end", ended)), "57014")
        canceller.close()
        yield* eventually("the compute to be suspended once its query has ended", isSuspended(busy), asked)
        yield* eventually(
          "its session to end",
          Effect.sync(() => working.hasEnded())
        )
        working.close()
        resting.close()
      }),
    patience
  )
})
