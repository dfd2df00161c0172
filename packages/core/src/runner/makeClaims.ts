/**
 * The claims of one worker: in its region, or in every region of the catalog by turns (`RunnerSettings.region`). Which
 * operation a claim gets is the store's rule.
 */
import { DateTime, Effect, Exit, Option } from "effect"
import { makeOperationId, type RegionId } from "../Ids.ts"
import type { StoredOperation } from "../records/operations/Operation.ts"
import type { OperationClass } from "../records/operations/OperationClass.ts"
import { OperationStore } from "../records/operations/OperationStore.ts"
import { RegionCatalog } from "../records/regions/RegionCatalog.ts"
import type { StorageError } from "../StorageError.ts"
import { RunnerPolicy } from "./RunnerPolicy.ts"

/** How long a worker of every region may not know of a new one. */
const fresh = "1 second"

export const makeClaims = Effect.gen(function* () {
  const store = yield* OperationStore
  const { all } = yield* RegionCatalog
  const { classes, lease, per_parent, region } = yield* RunnerPolicy
  const worker = yield* makeOperationId
  const known = yield* Effect.cachedWithTTL(
    Effect.map(all, (entries) => entries.map((entry) => entry.region.region_id)),
    (exit) => (Exit.isSuccess(exit) ? fresh : 0)
  )
  const regions = region === null ? known : Effect.succeed([region])
  let turn = 0

  const claimIn = (of: OperationClass, region_id: RegionId) =>
    Effect.flatMap(DateTime.now, (now) =>
      store.claim({
        class: of,
        region_id,
        worker,
        now,
        lease_until: DateTime.addDuration(now, lease),
        per_org: classes[of].per_org,
        per_parent
      })
    )

  const claim = (of: OperationClass): Effect.Effect<Option.Option<StoredOperation>, StorageError> =>
    Effect.gen(function* () {
      const ids = yield* regions
      const inTurn = [...ids.slice(turn % ids.length), ...ids.slice(0, turn % ids.length)]
      turn += 1
      for (const id of inTurn) {
        const due = yield* claimIn(of, id)
        if (Option.isSome(due)) return due
      }
      return Option.none()
    })

  return {
    worker,
    claim,
    /** As `claim`, in the region of an operation that is already known. `None` also where it is of another region. */
    claimFor: (of: OperationClass, { region_id }: StoredOperation) =>
      region === null || region === region_id ? claimIn(of, region_id) : Effect.succeedNone
  }
})
