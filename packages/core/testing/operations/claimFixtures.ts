/** Operations to claim, and the organizations that they are of. */
import { Effect, Option } from "effect"
import { AccountStore } from "../../src/accounts/AccountStore.ts"
import { personalOrgId } from "../../src/accounts/Organization.ts"
import type { OrgId, ProjectId, UserId } from "../../src/Ids.ts"
import type { ClaimLimits } from "../../src/operations/nextClaim.ts"
import { isFinal, type OperationAction, StoredOperation } from "../../src/operations/Operation.ts"
import type { OperationClass } from "../../src/operations/OperationClass.ts"
import { OperationStore } from "../../src/operations/OperationStore.ts"
import { QuotaStore } from "../../src/quotas/QuotaStore.ts"
import { aBranchId, aClaim, aMembership, anOperation, anOrganization, anOrgId, aProjectId, at } from "../records.ts"

export const claim = (of: OperationClass, limits: Partial<ClaimLimits> = {}, seconds = 0) =>
  Effect.flatMap(OperationStore, (store) =>
    store.claim({ ...aClaim(of), ...limits, worker: "w", now: at(seconds), lease_until: at(seconds + 30) })
  )

export interface Place {
  readonly org_id: OrgId
  readonly project_id: ProjectId
}
export const aPlace = (org_id = anOrgId()): Place => ({ org_id, project_id: aProjectId() })

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

export const owns = (org: OrgId, user: UserId, since: number, role = "owner") =>
  AccountStore.use((store) => store.putMembership(aMembership(org, user, { role, joined_at: at(since) })))

/** A place in a team organization that the person has created. */
export const founded = Effect.fnUntraced(function* (user: UserId) {
  const place = aPlace()
  yield* (yield* AccountStore).putOrganization(anOrganization({ id: place.org_id }))
  yield* owns(place.org_id, user, 0)
  yield* (yield* QuotaStore).addFounder(place.org_id, user)
  return place
})

/** A place in the personal organization of the person. */
export const personal = Effect.fnUntraced(function* (user: UserId) {
  const place = aPlace(personalOrgId(user))
  yield* (yield* AccountStore).putOrganization(anOrganization({ id: place.org_id, personal: true }))
  yield* owns(place.org_id, user, 0)
  return place
})
