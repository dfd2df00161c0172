/**
 * Schedules operations and moves them through their states; each change of `status` is one event, written in the
 * transaction that makes it (docs/design/events.md E8).
 *
 * `Operations` keeps the record; the runner performs the work.
 */
import { Context, DateTime, Effect, Exit, Layer, type Scope } from "effect"
import type { BranchId, EndpointId } from "../../Ids.ts"
import { makeOperationId } from "../../Ids.ts"
import type { Page, PageRequest } from "../../Page.ts"
import type { EventData } from "../../records/events/Envelope.ts"
import type { EventTypeOf } from "../../records/events/eventCatalog.ts"
import {
  Initiator,
  mayMove,
  type OperationAction,
  type OperationStatus,
  StoredOperation
} from "../../records/operations/Operation.ts"
import type { OperationClass } from "../../records/operations/OperationClass.ts"
import { type OperationFilter, withinScope } from "../../records/operations/OperationFilter.ts"
import { OperationStore } from "../../records/operations/OperationStore.ts"
import type { ClaimedOperation, PlaceOffer, TakenPlace } from "../../records/operations/TakenPlace.ts"
import type { Project } from "../../records/projects/Project.ts"
import { type AnyCaller, branchScopeOf } from "../../rules/authorization/Principal.ts"
import type { StorageError } from "../../StorageError.ts"
import { Transaction } from "../../Transaction.ts"

export interface Work {
  readonly project: Pick<Project, "id" | "org_id" | "region_id">
  readonly branch_id: BranchId | null
  readonly endpoint_id: EndpointId | null
  readonly action: OperationAction
  readonly initiator: Initiator
  /** The branch whose data is copied; left out: none. */
  readonly copies?: BranchId | null
}

export class Operations extends Context.Service<
  Operations,
  {
    /** The project's operations that fit the filter, newest first; a branch key sees those of its branch. */
    readonly list: (
      caller: AnyCaller,
      project: Pick<Project, "id">,
      filter: OperationFilter,
      page: PageRequest
    ) => Effect.Effect<Page<StoredOperation>, StorageError>
    /** Records work to do, within the running transaction. */
    readonly schedule: (work: Work) => Effect.Effect<StoredOperation, StorageError>
    /** Moves an operation to another status, within the running transaction. An illegal move is a defect. */
    readonly move: (
      operation: StoredOperation,
      status: OperationStatus,
      changes?: Partial<Pick<StoredOperation, "error" | "failures_count" | "retry_at">>
    ) => Effect.Effect<StoredOperation, StorageError>
    /**
     * Hints the parts of this process at a change that is committed, so that they need not wait for its event. Other
     * instances learn it from the log, and so do these if a hint is left out.
     *
     * Pitfall: a hint inside the transaction. A reader then finds the former state, and waits for the event.
     */
    readonly hint: (operation: StoredOperation) => Effect.Effect<void>
    /** Runs `heard` at each hint, until the scope closes. */
    readonly onHint: (
      heard: (operation: StoredOperation) => Effect.Effect<void>
    ) => Effect.Effect<void, never, Scope.Scope>
    /**
     * Runs `work`, whose first operation is of this class, in a transaction. If this process's runner has a free place
     * of the class and it is the operation's turn, the transaction also claims the operation, and the runner performs
     * it after the commit. Otherwise the operation is hinted at.
     *
     * Pitfall: calling it inside another transaction. The runner would begin before the commit.
     */
    readonly scheduleAndClaim: <A extends { readonly operations: ReadonlyArray<StoredOperation> }, E, R>(
      of: OperationClass,
      work: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | StorageError, R>
    /** Offers places of a runner to `scheduleAndClaim`, until the scope closes. */
    readonly offerPlaces: (offer: PlaceOffer) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@narthex/core/services/operations/Operations") {
  static readonly layer: Layer.Layer<Operations, never, OperationStore | Transaction> = Layer.effect(
    Operations,
    Effect.gen(function* () {
      const store = yield* OperationStore
      const { emit, run } = yield* Transaction

      const listeners = new Set<(operation: StoredOperation) => Effect.Effect<void>>()
      const offers = new Set<PlaceOffer>()

      const announce = (operation: StoredOperation) =>
        emit({
          org_id: operation.org_id,
          project_id: operation.project_id,
          type: "operation.updated.v1" satisfies EventTypeOf<"operations">,
          source: "operations",
          internal: false,
          data: eventData(operation)
        })

      const list: Operations["Service"]["list"] = Effect.fn("Operations.list")((caller, { id }, filter, page) => {
        const wanted = withinScope(filter, branchScopeOf(caller))
        return wanted === null ? Effect.succeed({ items: [], next_cursor: null }) : store.list(id, wanted, page)
      })

      const schedule = Effect.fn("Operations.schedule")(function* (work: Work) {
        const now = yield* DateTime.now
        const operation = new StoredOperation({
          id: yield* makeOperationId,
          org_id: work.project.org_id,
          region_id: work.project.region_id,
          project_id: work.project.id,
          branch_id: work.branch_id,
          endpoint_id: work.endpoint_id,
          action: work.action,
          status: "scheduling",
          error: null,
          failures_count: 0,
          retry_at: null,
          initiator: work.initiator,
          created_at: now,
          updated_at: now,
          started_at: null,
          finished_at: null,
          copies: work.copies ?? null,
          lease_owner: null,
          lease_until: null,
          fence: 0,
          busy_since: null
        })
        yield* store.insert(operation)
        yield* announce(operation)
        return operation
      })

      const move: Operations["Service"]["move"] = Effect.fn("Operations.move")(function* (
        operation,
        status,
        changes = {}
      ) {
        if (!mayMove(operation.status, status))
          return yield* Effect.die(
            new Error(`Operation ${operation.id} cannot move from ${operation.status} to ${status}.`)
          )
        const now = yield* DateTime.now
        const moved = new StoredOperation({
          ...operation,
          ...changes,
          status,
          updated_at: now,
          started_at: status === "running" ? now : operation.started_at,
          finished_at: status === "running" || status === "cancelling" ? null : now,
          ...(status === "running" || status === "cancelling"
            ? {}
            : { lease_owner: null, lease_until: null, retry_at: null, busy_since: null })
        })
        yield* store.update(moved)
        yield* announce(moved)
        return moved
      })

      const hint = (operation: StoredOperation) =>
        Effect.forEach([...listeners], (heard) => heard(operation), { discard: true })

      const takePlace = Effect.fnUntraced(function* (of: OperationClass) {
        for (const offer of offers) {
          const place = offer.of === of ? yield* offer.take : undefined
          if (place !== undefined) return place
        }
        return undefined
      })

      const scheduleAndClaim: Operations["Service"]["scheduleAndClaim"] = (of, work) => {
        const within = (held: Held) =>
          Effect.gen(function* () {
            held.claimed = undefined // the transaction may run again
            const done = yield* work
            const [first] = done.operations
            if (first?.status === "scheduling") held.claimed = yield* held.place?.claim(first) ?? Effect.undefined
            return done
          })
        return Effect.acquireUseRelease(
          Effect.map(takePlace(of), (place): Held => ({ place, claimed: undefined })),
          (held) =>
            Effect.tap(run(within(held)), ({ operations: [first] }) =>
              first === undefined || held.claimed?.operation.id === first.id ? Effect.void : hint(first)
            ),
          ({ claimed, place }, exit) => place?.leave(claimed, Exit.isSuccess(exit)) ?? Effect.void
        )
      }

      const keptIn = <A>(all: Set<A>, one: A) =>
        Effect.acquireRelease(
          Effect.sync(() => void all.add(one)),
          () => Effect.sync(() => all.delete(one))
        )

      return Operations.of({
        list,
        schedule,
        move,
        hint,
        onHint: (heard) => keptIn(listeners, heard),
        scheduleAndClaim,
        offerPlaces: (offer) => keptIn(offers, offer)
      })
    })
  )
}

/** A place that is held during a transaction, and the operation that the transaction has claimed for it so far. */
interface Held {
  readonly place: TakenPlace | undefined
  claimed: ClaimedOperation | undefined
}

/** The initiator of an operation that a caller of the API requests. */
export const initiatorOf = (caller: AnyCaller): Initiator =>
  caller.kind === "session"
    ? new Initiator({ type: "user", id: caller.user.id, name: caller.user.email })
    : new Initiator({ type: "api_key", id: caller.api_key_id, name: caller.api_key_name })

export const bySystem = new Initiator({ type: "system", id: null, name: null })
export const byProxy = new Initiator({ type: "proxy", id: null, name: null })

const present = (members: Record<string, string | null>): Record<string, string> =>
  Object.fromEntries(Object.entries(members).flatMap(([name, value]) => (value === null ? [] : [[name, value]])))

/** The members of `operation.updated.v1`. A member without a value is left out of event data, never `null`. */
const eventData = (operation: StoredOperation): EventData => ({
  operation_id: operation.id,
  action: operation.action,
  status: operation.status,
  ...present({ branch_id: operation.branch_id, endpoint_id: operation.endpoint_id, error: operation.error }),
  initiator: present({ ...operation.initiator })
})
