/**
 * Computes that the operator runs (`NARTHEX_COMPUTE=static`): a fixed list of addresses of Postgres servers, one for a
 * branch, given out in the order of the list when a branch first needs one. They always run; starting and stopping an
 * endpoint opens and closes the way to them.
 *
 * Which branch has which address is in the store, so it is the same after a restart and in every instance. An address
 * is given out once: Narthex cannot empty the server of a deleted branch, so no other branch ever gets it.
 *
 * It stops at what is inside the servers. They have roles of their own, and their data is neither copied nor removed.
 *
 * Pitfall: deriving the address from the list alone. A branch whose address left the list has data there, so it is
 * refused rather than given another server.
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
 * `address` is unique and stays when its branch is deleted. An operator who has emptied a server deletes its row, and it
 * is given out again.
 */
const table = `create table if not exists static_compute (
  address   text collate "C" primary key,
  branch_id text collate "C" not null unique,
  given_at  timestamptz not null default now()
)`

/** Instances that start at once make the table one after another. The number is this table's alone. */
const making = "select pg_advisory_xact_lock(7316904413)"

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

/** The store may answer the next time. */
const again = (error: StorageError) => new ComputeFailed({ reason: error.message, retryable: true })

export const layerStaticComputes = (
  addresses: ReadonlyArray<string>
): Layer.Layer<ComputeDriver, StorageError, Database | EndpointStore> =>
  Layer.effect(
    ComputeDriver,
    Effect.gen(function* () {
      const { query, transaction } = yield* Database
      const endpoints = yield* EndpointStore
      const ask = (text: string, params?: ReadonlyArray<unknown>) => query<Row>("StaticComputes", text, params)
      yield* transaction(Effect.andThen(ask(making), ask(table)))

      const given = Effect.fnUntraced(function* (branch: BranchId) {
        const [row] = yield* ask("select address from static_compute where branch_id = $1", [branch])
        return row?.address
      })

      /** The branch's address, given out now if it has none. Other instances wait meanwhile. */
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
        const address = yield* Effect.mapError(addressOf(branch), again)
        if (address === undefined)
          return yield* cannot("Every address of NARTHEX_STATIC_ENDPOINTS has been given to a branch.")
        if (!addresses.includes(address))
          return yield* cannot(
            `The data of this branch is at ${address}, which NARTHEX_STATIC_ENDPOINTS does not name.`
          )
        return address
      })

      const deleteBranch = Effect.fn("StaticComputes.deleteBranch")(function* (branch: BranchId) {
        const address = yield* Effect.mapError(given(branch), again)
        if (address !== undefined)
          yield* Effect.logWarning("The server of a deleted branch keeps its data and is not given out again.", {
            address,
            branch_id: branch
          })
      })

      /** The servers always run, so what runs is what the records say, as long as the list names it. */
      const running = Effect.map(endpoints.active, (active) =>
        active.flatMap(
          ({ address, branch_id, generation, id }): ReadonlyArray<Compute> =>
            address !== null && addresses.includes(address) ? [{ endpoint_id: id, branch_id, generation, address }] : []
        )
      )

      return ComputeDriver.of({
        createBranch: (_, parent) =>
          Option.isNone(parent) ? Effect.void : cannot("Static computes cannot be a copy of another branch."),
        resetBranch: () => cannot("Static computes cannot be reset."),
        deleteBranch,
        start: ({ branch_id, endpoint_id, generation }) =>
          Effect.map(start(branch_id), (address) => ({ endpoint_id, branch_id, generation, address })),
        stop: () => Effect.void,
        applyRoles: () => cannot("Static computes have roles of their own; none can be minted."),
        running: Effect.mapError(running, again)
      })
    })
  )
