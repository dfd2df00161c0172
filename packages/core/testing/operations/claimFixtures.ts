/** Operations to claim, and the organizations that they are of. */
import { Effect, Option } from "effect"
import { type OrgId, type ProjectId, RegionId } from "../../src/Ids.ts"
import type { ClaimLimits } from "../../src/records/operations/nextClaim.ts"
import { isFinal, type OperationAction, StoredOperation } from "../../src/records/operations/Operation.ts"
import type { OperationClass } from "../../src/records/operations/OperationClass.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { aBranchId, aClaim, anOperation, anOrgId, aProjectId, at } from "../records.ts"

export const claim = (of: OperationClass, limits: Partial<ClaimLimits> = {}, seconds = 0) =>
  Effect.flatMap(OperationStore, (store) =>
    store.claim({ ...aClaim(of), ...limits, worker: "w", now: at(seconds), lease_until: at(seconds + 30) })
  )

export interface Place {
  readonly org_id: OrgId
  readonly project_id: ProjectId
  readonly region_id: RegionId
}
export const [here, elsewhere] = [RegionId.make("eu-1"), RegionId.make("us-1")]
export const aPlace = (org_id = anOrgId(), region_id = here): Place => ({
  org_id,
  project_id: aProjectId(),
  region_id
})

export const inserted = (place: Place, action: OperationAction, rest: Partial<StoredOperation> = {}) =>
  Effect.gen(function* () {
    const operation = anOperation(place.project_id, aBranchId(), { ...place, action, ...rest })
    yield* (yield* OperationStore).insert(operation)
    return operation
  })

export const several = (count: number, place: Place, action: OperationAction, rest: Partial<StoredOperation> = {}) =>
  Effect.forEach(Array.from({ length: count }), () => inserted(place, action, rest))

export const finish = Effect.fnUntraced(function* ({ id }: StoredOperation) {
  const store = yield* OperationStore
  const row = Option.getOrThrow(yield* store.find(id))
  if (isFinal(row.status)) return
  yield* store.update(new StoredOperation({ ...row, status: "finished", lease_owner: null, lease_until: null }))
})
export const clean = (...operations: ReadonlyArray<StoredOperation>) =>
  Effect.forEach(operations, finish, { discard: true })

/** Claims until none is due. */
export const claimed = Effect.fnUntraced(function* (of: OperationClass, limits: Partial<ClaimLimits> = {}) {
  const all: Array<StoredOperation> = []
  for (;;) {
    const found = yield* claim(of, limits)
    if (Option.isNone(found)) return all
    all.push(found.value)
  }
})
