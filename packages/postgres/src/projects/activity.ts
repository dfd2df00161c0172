/**
 * The part of `EndpointStore` on Postgres that records what proxies report. Reports are dated when they arrive, by the
 * database's clock, which is one for all instances.
 */
import { activityTiming, type EndpointStore, EndpointUse, type ProxyReport } from "@narthex/core"
import { Effect } from "effect"
import type { Database } from "../database/Database.ts"
import { json, reading } from "../database/tableOf.ts"

/** An age as a number of milliseconds. `clock_timestamp()`: a transaction may have waited for a lock. */
const msSince = (instant: string) => `(extract(epoch from clock_timestamp() - ${instant}) * 1000)::float8`

/**
 * When the compute of the endpoint `e` was last used, by the database's clock. An endpoint that was never changed has no
 * such instant.
 *
 * Pitfall: the instants that an instance wrote. If its clock is fast, a compute that it has started would count as used
 * until that time has come.
 */
const used = "coalesce(e.used_at, e.last_active_at, e.started_at, e.updated_at)"

/** The members of `EndpointUse` of the endpoint `e`. */
const useOf = `e.id as endpoint_id,
  ${msSince(used)} as idle_ms,
  ${msSince("coalesce(e.ran_since, e.started_at)")} as started_ms,
  (select ${msSince("r.since")} from narthex.report_reception r where ${msSince("r.seen_at")} <= ${activityTiming.outage})
    as receiving_ms,
  (select coalesce(jsonb_agg(jsonb_build_object('named', u.proxy_id <> '', 'connections', u.connections,
      'busy', u.busy, 'age_ms', ${msSince("u.reported_at")})), '[]')
   from narthex.endpoint_use u where u.endpoint_id = e.id and u.generation = e.generation) as proxies`

type Activity = Pick<EndpointStore["Service"], "noteActivity" | "noteReceiving" | "unused" | "use">

export const activityOf = (database: Database["Service"]): Activity => {
  const uses = reading(database, EndpointUse)
  return {
    noteActivity: ({ endpoints, proxy_id, sequence }: ProxyReport) =>
      Effect.asVoid(
        database.query(
          "EndpointStore.noteActivity",
          // Rows are locked in one order: two proxies that report at once would otherwise deadlock.
          `with seen as (
             select distinct on (it.endpoint_id, it.generation) it.*
             from rows from (jsonb_to_recordset($1) as (
                 endpoint_id text, generation bigint, connections integer, busy integer, idle_ms float8))
               with ordinality as it(endpoint_id, generation, connections, busy, idle_ms, n)
             order by it.endpoint_id, it.generation, it.n desc
           ), held as (
             select e.id, seen.*
             from narthex.endpoint e join seen on seen.endpoint_id = e.id and seen.generation = e.generation
             where e.deleted_at is null order by e.id for update of e
           ), noted as (
             insert into narthex.endpoint_use (endpoint_id, proxy_id, generation, sequence, connections, busy, reported_at)
             select held.id, $2, held.generation, $3, held.connections, held.busy, clock_timestamp() from held
             on conflict (endpoint_id, proxy_id) do update
             set (generation, sequence, connections, busy, reported_at) = row (excluded.generation, excluded.sequence,
               excluded.connections, excluded.busy, excluded.reported_at)
             where endpoint_use.generation <> excluded.generation or endpoint_use.sequence <= excluded.sequence
             returning endpoint_id
           )
           update narthex.endpoint e
           set last_active_at = greatest(e.last_active_at, clock_timestamp() - held.idle_ms * interval '1 millisecond'),
             used_at = greatest(e.used_at, clock_timestamp() - held.idle_ms * interval '1 millisecond'),
             connections = held.connections + coalesce(
               (select sum(u.connections) from narthex.endpoint_use u
                where u.endpoint_id = e.id and u.generation = e.generation and u.proxy_id <> $2), 0)
           from held join noted on noted.endpoint_id = held.id where e.id = held.id`,
          [json(endpoints), proxy_id ?? "", sequence]
        )
      ),
    noteReceiving: Effect.asVoid(
      database.query(
        "EndpointStore.noteReceiving",
        `with received as (
           insert into narthex.report_reception (seen_at, since) values (clock_timestamp(), clock_timestamp())
           on conflict (one) do update set seen_at = excluded.seen_at,
             since = case when excluded.seen_at - report_reception.seen_at > $1 * interval '1 millisecond'
               then excluded.since else report_reception.since end
           returning since
         )
         delete from narthex.endpoint_use u using received
         where greatest(u.reported_at, received.since) < clock_timestamp() - interval '1 hour'`,
        [activityTiming.outage]
      )
    ),
    use: (endpoint) =>
      uses.first(
        "EndpointStore.use",
        `select ${useOf} from narthex.endpoint e where e.id = $1 and e.deleted_at is null`,
        [endpoint]
      ),
    unused: uses.all(
      "EndpointStore.unused",
      `select ${useOf} from narthex.endpoint e
       where e.current_state = 'active' and e.pending_state is null and e.deleted_at is null
         and e.suspend_timeout_seconds <> -1 and coalesce(e.reach->>'own_roles', 'false') = 'false'
         and ${used} <= clock_timestamp() - e.suspend_timeout_seconds * interval '1 second'
       order by e.id`,
      []
    )
  }
}
