/**
 * Computes that the operator runs (`NARTHEX_COMPUTE=static`): a fixed table of Postgres servers. Each branch is
 * assigned one server, in the order of the table, when it first needs one. The servers always run; starting and
 * stopping an endpoint lets connections through or not, and applies its roles through the server's admin URL.
 *
 * Assignments and what runs are stored, so they are the same after a restart and on every instance. A server is
 * assigned once: Narthex cannot empty the server of a deleted branch, so no other branch gets it. Data is neither
 * copied nor removed.
 *
 * A call with a lower `ComputeFence` than an earlier one for its branch is refused, on all instances. Each has a short
 * transaction that records its fence, then works on the branch's server, then checks the fence again in the transaction
 * that records the outcome. `applyStaticRoles` asks for it directly before it puts roles on the server; roles
 * that a call has ended after it was overtaken, the reconciler puts back.
 *
 * Pitfall: working on a branch's server within a transaction of the store. A server that accepts and does not answer
 * would keep the connection, and a few branches on it all connections of the store.
 * Pitfall: deriving the server from the table alone. If the server of a branch leaves the table, its data is still
 * there; the branch is refused instead of being assigned an empty server.
 */
import { refusalOf } from "@narthex/compute-roles"
import {
  type BranchId,
  type Compute,
  ComputeDriver,
  ComputeFailed,
  ComputeFence,
  type ComputeReach,
  type ComputeRole,
  type EndpointId,
  type StorageError
} from "@narthex/core"
import { Database } from "@narthex/postgres"
import { Duration, Effect, Layer, Option, type Redacted } from "effect"
import { applyStaticRoles, endStaticSessions, needsStaticRoles } from "./staticRoles.ts"

export interface StaticServer {
  /** Where the proxies reach it: `host:port`, or the absolute path of a socket. */
  readonly address: string
  /** The database `postgres` as a user that may create roles. `null`: the server has roles of its own. */
  readonly admin_url: Redacted.Redacted | null
  /** As in `ComputeReach`. */
  readonly tls: ComputeReach["tls"]
}

/** The lock belongs to the assignments of this store alone. */
const assignmentLock =
  "select pg_advisory_xact_lock(hashtextextended('assignments', 'narthex.static_compute'::regclass::oid::bigint))::text"

const give = `insert into narthex.static_compute (address, branch_id)
select listed.address, $1
from unnest($2::text[]) with ordinality as listed(address, n)
where not exists (select 1 from narthex.static_compute as given where given.address = listed.address)
order by n limit 1
on conflict (branch_id) do nothing`

const cannot = (reason: string, detail?: string) =>
  new ComputeFailed({ reason, retryable: false, ...(detail === undefined ? {} : { detail }) })

/** The operation goes on under its latest claim; that is not a failure of it. */
const overtaken = new ComputeFailed({
  reason: "A later call for the branch has been carried out.",
  retryable: true,
  busy: true
})

/** The store or the server may answer at the next attempt. */
const later = (reason: string) => (error: StorageError) =>
  new ComputeFailed({ reason, detail: `${error.message} ${String(error.cause)}`, retryable: true })

const storeFailed = later("The control plane's storage cannot be reached. Try again.")
const serverFailed = later("The branch's server does not answer. Try again.")
const unanswered = new ComputeFailed({
  reason: "The branch's server did not do this in time. Try again.",
  retryable: true
})

/** How long a call of the branch's server may take, sessions that hold up a change of roles included. */
const defaultPatience = Duration.seconds(10)

export const layerStaticComputes = (
  servers: ReadonlyArray<StaticServer>,
  patience = defaultPatience
): Layer.Layer<ComputeDriver, never, Database> =>
  Layer.effect(
    ComputeDriver,
    Effect.gen(function* () {
      const { query, transaction } = yield* Database
      const addresses = servers.map(({ address }) => address)
      const reachOf = (address: string): ComputeReach => {
        const server = servers.find((it) => it.address === address)
        return { tls: server?.tls ?? null, own_roles: server?.admin_url === null }
      }
      const adminOf = (address: string) => servers.find((it) => it.address === address)?.admin_url ?? null
      const ask = <Row extends object>(text: string, params?: ReadonlyArray<unknown>) =>
        Effect.mapError(query<Row>("StaticComputes", text, params), storeFailed)
      const stored = <A>(work: Effect.Effect<A, ComputeFailed>) =>
        Effect.catchIf(transaction(work), isStorageError, (error) => Effect.fail(storeFailed(error)))

      /** The branch's server under its lock, until the end of the transaction. Late calls are refused. */
      const held = Effect.fnUntraced(function* (branch: BranchId) {
        const fence = yield* ComputeFence
        const [row] = yield* ask<{ readonly address: string; readonly fence: number }>(
          "select address, fence from narthex.static_compute where branch_id = $1 for update",
          [branch]
        )
        if (row === undefined || fence === null) return row?.address
        if (fence < row.fence) return yield* overtaken
        yield* ask("update narthex.static_compute set fence = $2 where branch_id = $1", [branch, fence])
        return row.address
      })

      /** As `held`, with a server assigned now if the branch has none. */
      const assigned = Effect.fnUntraced(function* (branch: BranchId) {
        let address = yield* held(branch)
        if (address === undefined) {
          // Assignments are made one after another. This lock is held for these two statements alone.
          yield* ask(assignmentLock)
          yield* ask(give, [branch, addresses])
          address = yield* held(branch)
        }
        if (address === undefined)
          return yield* cannot("Every static server is assigned to a branch. The operator has to add one.")
        if (!addresses.includes(address))
          return yield* cannot(
            "The server with the data of this branch is not in the operator's list any more.",
            `The data of ${branch} is at ${address}.`
          )
        return address
      })

      /** Fails when a later call has taken the branch over. */
      const confirmed = Effect.fnUntraced(function* (branch: BranchId) {
        const fence = yield* ComputeFence
        const [row] = yield* ask<{ readonly fence: number }>(
          "select fence from narthex.static_compute where branch_id = $1",
          [branch]
        )
        if (row !== undefined && fence !== null && fence < row.fence) return yield* overtaken
      })

      const isRunning = Effect.fnUntraced(function* (branch: BranchId) {
        const rows = yield* ask("select 1 from narthex.static_compute_running where branch_id = $1", [branch])
        return rows.length > 0
      })

      const bounded = <A>(work: Effect.Effect<A, ComputeFailed | StorageError>) =>
        Effect.catchIf(work, isStorageError, (error) => Effect.fail(serverFailed(error))).pipe(
          Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.fail(unanswered) })
        )

      const rolesAt = (branch: BranchId, address: string, roles: ReadonlyArray<ComputeRole>) =>
        Effect.gen(function* () {
          const reason = roles.map(refusalOf).find((it) => it !== undefined)
          if (reason !== undefined) return yield* cannot(reason)
          const url = adminOf(address)
          if (url !== null) return yield* bounded(applyStaticRoles(url, roles, confirmed(branch)))
          if (roles.length > 0)
            return yield* cannot(
              "The operator's server takes no credentials from here: it has roles of its own.",
              `${address} has no admin_url in NARTHEX_STATIC_COMPUTES.`
            )
        })

      /** Changes what is stored after the server was changed, unless a later call has taken the branch over. */
      const recorded = <A>(branch: BranchId, change: Effect.Effect<A, ComputeFailed>) =>
        stored(Effect.andThen(held(branch), change))

      const start: ComputeDriver["Service"]["start"] = Effect.fn("StaticComputes.start")(function* (wanted) {
        const { branch_id, endpoint_id, generation, roles } = wanted
        const address = yield* stored(assigned(branch_id))
        yield* rolesAt(branch_id, address, roles)
        yield* recorded(
          branch_id,
          ask(
            `insert into narthex.static_compute_running (endpoint_id, branch_id, generation) values ($1, $2, $3)
             on conflict (endpoint_id) do update set branch_id = excluded.branch_id, generation = excluded.generation`,
            [endpoint_id, branch_id, generation]
          )
        )
        return { endpoint_id, branch_id, generation, address, reach: reachOf(address) }
      })

      const stop = Effect.fn("StaticComputes.stop")(function* (endpoint: EndpointId) {
        const found = yield* stored(
          Effect.gen(function* () {
            const [row] = yield* ask<{ readonly branch_id: BranchId }>(
              "select branch_id from narthex.static_compute_running where endpoint_id = $1",
              [endpoint]
            )
            if (row === undefined) return
            const address = yield* held(row.branch_id)
            const others = yield* ask(
              "select 1 from narthex.static_compute_running where branch_id = $1 and endpoint_id <> $2 limit 1",
              [row.branch_id, endpoint]
            )
            const url = address === undefined || others.length > 0 ? null : adminOf(address)
            return { branch: row.branch_id, url }
          })
        )
        if (found === undefined) return
        if (found.url !== null) yield* bounded(endStaticSessions(found.url))
        yield* recorded(
          found.branch,
          ask("delete from narthex.static_compute_running where endpoint_id = $1", [endpoint])
        )
      })

      const deleteBranch = Effect.fn("StaticComputes.deleteBranch")(function* (branch: BranchId) {
        const address = yield* stored(held(branch))
        if (address !== undefined && adminOf(address) !== null) yield* rolesAt(branch, address, [])
        yield* recorded(branch, ask("delete from narthex.static_compute_running where branch_id = $1", [branch]))
        if (address === undefined) return
        yield* Effect.logWarning("The server of a deleted branch keeps its data and is not assigned again.", {
          address,
          branch_id: branch
        })
      })

      const applyRoles: ComputeDriver["Service"]["applyRoles"] = Effect.fn("StaticComputes.applyRoles")(
        function* (branch, roles) {
          const address = yield* stored(held(branch))
          if (address === undefined || !(yield* isRunning(branch))) return
          yield* rolesAt(branch, address, roles)
          yield* recorded(branch, Effect.void)
        }
      )

      const needsRoles = Effect.fn("StaticComputes.needsRoles")(function* (
        branch: BranchId,
        roles: ReadonlyArray<ComputeRole>
      ) {
        const [row] = yield* ask<{ readonly address: string }>(
          "select address from narthex.static_compute join narthex.static_compute_running using (branch_id) where branch_id = $1",
          [branch]
        )
        const url = row === undefined ? null : adminOf(row.address)
        return url !== null && (yield* bounded(needsStaticRoles(url, roles)))
      })

      const running = Effect.map(
        ask<Compute>(
          `select endpoint_id, branch_id, generation, address
         from narthex.static_compute_running join narthex.static_compute using (branch_id)
         where address = any ($1::text[]) order by endpoint_id`,
          [addresses]
        ),
        (computes) => computes.map((it): Compute => ({ ...it, reach: reachOf(it.address) }))
      )

      return ComputeDriver.of({
        createBranch: (branch, parent) =>
          Option.isNone(parent)
            ? Effect.asVoid(stored(held(branch)))
            : cannot("With static computes a branch cannot be a copy of another branch."),
        resetBranch: () => cannot("With static computes a branch cannot be reset."),
        deleteBranch,
        start,
        stop,
        applyRoles,
        needsRoles,
        running,
        // The disks of these servers are the operator's.
        diskUsage: Effect.succeed([])
      })
    })
  )

const isStorageError = (error: ComputeFailed | StorageError): error is StorageError => error._tag === "StorageError"
