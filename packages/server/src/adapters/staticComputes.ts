/**
 * Computes that the operator runs (`NARTHEX_COMPUTE=static`): a fixed list of Postgres servers. Each branch is assigned
 * one address, in the order of the list, when it first needs one. The servers always run; starting and stopping an
 * endpoint only lets connections through or not.
 *
 * Assignments are stored, so they are the same after a restart and on every instance. An address is assigned once:
 * Narthex cannot empty the server of a deleted branch, so no other branch gets it.
 *
 * The content of the servers is outside its reach: they have roles of their own, and data is neither copied nor removed.
 *
 * Pitfall: deriving the address from the list alone. If the address of a branch leaves the list, its data is still
 * there; the branch is refused instead of being assigned an empty server.
 */
import {
  type BranchId,
  type Compute,
  ComputeDriver,
  ComputeFailed,
  EndpointStore,
  type StorageError
} from "@narthex/core"
import { Database } from "@narthex/postgres"
import { Effect, Layer, Option } from "effect"

/**
 * `address` is unique and its row stays when the branch is deleted. An operator who has emptied a server deletes the row;
 * then the address is assigned again.
 */
const table = `create table if not exists static_compute (
  address   text collate "C" primary key,
  branch_id text collate "C" not null unique,
  given_at  timestamptz not null default now()
)`

/** Instances that start at the same time create the table one after another. The number belongs to this table alone. */
const creationLock = "select pg_advisory_xact_lock(7316904413)"

const give = `insert into static_compute (address, branch_id)
select listed.address, $1
from unnest($2::text[]) with ordinality as listed(address, n)
where not exists (select 1 from static_compute as given where given.address = listed.address)
order by n limit 1
returning address`

interface Row {
  readonly address: string
}

const cannot = (reason: string) => new ComputeFailed({ reason, retryable: false })

/** The store may answer at the next attempt. */
const retryable = (error: StorageError) => new ComputeFailed({ reason: error.message, retryable: true })

export const layerStaticComputes = (
  addresses: ReadonlyArray<string>
): Layer.Layer<ComputeDriver, StorageError, Database | EndpointStore> =>
  Layer.effect(
    ComputeDriver,
    Effect.gen(function* () {
      const { query, transaction } = yield* Database
      const endpoints = yield* EndpointStore
      const ask = (text: string, params?: ReadonlyArray<unknown>) => query<Row>("StaticComputes", text, params)
      yield* transaction(Effect.andThen(ask(creationLock), ask(table)))

      const given = Effect.fnUntraced(function* (branch: BranchId) {
        const [row] = yield* ask("select address from static_compute where branch_id = $1", [branch])
        return row?.address
      })

      /** The branch's address, assigned now if it has none. Other instances wait for this transaction. */
      const addressOf = (branch: BranchId) =>
        transaction(
          Effect.gen(function* () {
            yield* ask("lock table static_compute in share row exclusive mode")
            const former = yield* given(branch)
            if (former !== undefined) return former
            const [row] = yield* ask(give, [branch, addresses])
            return row?.address
          })
        )

      const start = Effect.fn("StaticComputes.start")(function* (branch: BranchId) {
        const address = yield* Effect.mapError(addressOf(branch), retryable)
        if (address === undefined)
          return yield* cannot("Every address of NARTHEX_STATIC_ENDPOINTS is assigned to a branch.")
        if (!addresses.includes(address))
          return yield* cannot(`The data of this branch is at ${address}, which is not in NARTHEX_STATIC_ENDPOINTS.`)
        return address
      })

      const deleteBranch = Effect.fn("StaticComputes.deleteBranch")(function* (branch: BranchId) {
        const address = yield* Effect.mapError(given(branch), retryable)
        if (address !== undefined)
          yield* Effect.logWarning("The server of a deleted branch keeps its data and is not assigned again.", {
            address,
            branch_id: branch
          })
      })

      /** The servers always run, so the running computes are those of the records whose address is in the list. */
      const running = Effect.map(endpoints.active, (active) =>
        active.flatMap(
          ({ address, branch_id, generation, id }): ReadonlyArray<Compute> =>
            address !== null && addresses.includes(address) ? [{ endpoint_id: id, branch_id, generation, address }] : []
        )
      )

      return ComputeDriver.of({
        createBranch: (_, parent) =>
          Option.isNone(parent)
            ? Effect.void
            : cannot("With static computes a branch cannot be a copy of another branch."),
        resetBranch: () => cannot("With static computes a branch cannot be reset."),
        deleteBranch,
        start: ({ branch_id, endpoint_id, generation }) =>
          Effect.map(start(branch_id), (address) => ({ endpoint_id, branch_id, generation, address })),
        stop: () => Effect.void,
        rolesOf: () => Effect.succeedNone,
        applyRoles: () => cannot("With static computes no roles can be created: the servers have roles of their own."),
        running: Effect.mapError(running, retryable)
      })
    })
  )
