/**
 * The operations that wait on a branch, within the running transaction: whether it takes another one, and which of them a
 * new one makes needless (docs/design/operations.md O23).
 */
import { DateTime, Effect, Option } from "effect"
import type { BranchId } from "../../Ids.ts"
import { ResourceBusy } from "../../Refusals.ts"
import { type Initiator, OperationAction, type StoredOperation } from "../../records/operations/Operation.ts"
import { mostUnfinished, OperationStore } from "../../records/operations/OperationStore.ts"
import { Endpoint } from "../../records/projects/Endpoint.ts"
import { EndpointStore } from "../../records/projects/EndpointStore.ts"
import { desiredState, movesEndpoint } from "../../rules/operations/desiredState.ts"
import { Operations } from "../operations/Operations.ts"

export const makeBranchQueue = Effect.gen(function* () {
  const endpoints = yield* EndpointStore
  const operations = yield* Operations
  const pending = yield* OperationStore

  /** The unfinished operations of a branch, where these are all of them. They answer every question about them. */
  const all = (branch: BranchId) =>
    Effect.map(pending.unfinished(branch), (waiting) => Option.liftPredicate(waiting, hasAll))

  /** Refuses work that creates or starts when the queue is full. Work that ends something is never refused. */
  const hasRoom = Effect.fnUntraced(function* (branch: BranchId) {
    const waiting = yield* pending.unfinished(branch)
    const [first] = waiting
    if (first !== undefined && waiting.length >= mostUnfinished)
      return yield* new ResourceBusy({ blocking_operation_id: first.id, waiting: waiting.length })
  })

  /** Refuses work that waits for no other. */
  const isFree = Effect.fnUntraced(function* (branch: BranchId, except?: OperationAction) {
    const actions = OperationAction.literals.filter((action) => action !== except)
    const [blocking] = yield* pending.unfinished(branch, { actions, limit: 1 })
    if (blocking !== undefined) return yield* new ResourceBusy({ blocking_operation_id: blocking.id })
  })

  /** The newest starts, suspends and resets that lead the endpoint to a state, apart from one. */
  const movesOf = ({ branch_id, id: endpoint_id }: Endpoint, waiting: Waiting, but?: StoredOperation) =>
    Effect.map(
      Option.match(waiting, {
        onNone: () => pending.unfinished(branch_id, { actions: movesEndpoint, endpoint_id, limit: 2 }),
        onSome: Effect.succeed
      }),
      (moves) => moves.filter(({ id }) => id !== but?.id)
    )

  /** The state that the locked endpoint is led to. */
  const leads = (endpoint: Endpoint) =>
    Effect.map(movesOf(endpoint, Option.none()), (moves) => desiredState(endpoint, moves))

  /**
   * Cancels the newest start or suspend of the locked endpoint, if it has not begun and leads away from what a caller asks
   * for. The system and proxies cancel nothing: their suspends and starts wait their turn. Returns the endpoint as it is
   * then, and the state that it is led to. `waiting` is what `all` has read, if it was asked.
   */
  const cancelOpposite = Effect.fnUntraced(function* (
    endpoint: Endpoint,
    state: "active" | "idle",
    initiator: Initiator,
    waiting: Waiting
  ) {
    const desired = desiredState(endpoint, yield* movesOf(endpoint, waiting))
    const by = Option.getOrUndefined(desired.by)
    const byCaller = initiator.type === "user" || initiator.type === "api_key"
    if (!byCaller || by?.status !== "scheduling" || by.action === "reset_branch" || desired.state === state)
      return { desired, endpoint }
    // A runner that begins it holds the row, and locks the endpoint next, which is locked here: it is left alone.
    const row = Option.getOrUndefined(yield* pending.lockFree(by.id))
    if (row?.status !== "scheduling") return { desired, endpoint }
    const left = desiredState(endpoint, yield* movesOf(endpoint, waiting, row))
    const pending_state = Option.isSome(left.by) && left.state !== endpoint.current_state ? left.state : null
    const changed = new Endpoint({ ...endpoint, pending_state, updated_at: yield* DateTime.now })
    yield* endpoints.put(changed)
    yield* operations.move(row, "cancelled")
    return { desired: left, endpoint: changed }
  })

  return { all, cancelOpposite, hasRoom, isFree, leads }
})

/** All unfinished operations of a branch; `None`: they were not read, or are more than are read at once. */
type Waiting = Option.Option<ReadonlyArray<StoredOperation>>

const hasAll = (waiting: ReadonlyArray<StoredOperation>) => waiting.length < mostUnfinished
