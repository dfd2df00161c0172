/**
 * Which operations of a project a list has (docs/design/api.md A19).
 *
 * Pitfall: a branch as the scope of a key and a branch as a filter in one member. The later one replaces the earlier,
 * and a key that is narrowed to one branch lists another; `withinScope` demands both.
 */
import { BranchId, EndpointId, requestedId } from "../../Ids.ts"
import type { OperationAction, OperationStatus, StoredOperation } from "./Operation.ts"

/** Every given member must be that of the operation. A member that is left out admits every operation. */
export interface OperationFilter {
  readonly status?: OperationStatus
  readonly action?: OperationAction
  readonly branch_id?: BranchId
  readonly endpoint_id?: EndpointId
}

/** Whether the operation fits the filter. */
export const fits = (
  operation: StoredOperation,
  { action, branch_id, endpoint_id, status }: OperationFilter
): boolean =>
  (status === undefined || operation.status === status) &&
  (action === undefined || operation.action === action) &&
  (branch_id === undefined || operation.branch_id === branch_id) &&
  (endpoint_id === undefined || operation.endpoint_id === endpoint_id)

/**
 * The filter of a request, within the branch that the caller is narrowed to (`null`: none). Ids that cannot exist
 * become ids that no operation has. `null`: no operation can fit, because the filter names another branch.
 */
export const withinScope = (
  { action, branch_id, endpoint_id, status }: OperationFilter,
  scope: BranchId | null
): OperationFilter | null => {
  const wanted = branch_id === undefined ? undefined : requestedId(BranchId, branch_id)
  if (scope !== null && wanted !== undefined && wanted !== scope) return null
  const branch = scope ?? wanted
  return {
    ...(status === undefined ? {} : { status }),
    ...(action === undefined ? {} : { action }),
    ...(branch === undefined ? {} : { branch_id: branch }),
    ...(endpoint_id === undefined ? {} : { endpoint_id: requestedId(EndpointId, endpoint_id) })
  }
}
