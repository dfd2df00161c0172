/**
 * Whether a compute may start, or have a larger size: its places in the branch's queue and in the quotas of its organization,
 * within the running transaction, which has locked the endpoint.
 */
import { Effect, Option } from "effect"
import type { OrgId } from "../../Ids.ts"
import type { StoredOperation } from "../../records/operations/Operation.ts"
import { OperationStore } from "../../records/operations/OperationStore.ts"
import type { Endpoint } from "../../records/projects/Endpoint.ts"
import type { EndpointSize } from "../../records/projects/EndpointSize.ts"
import { takesCompute } from "../../records/quotas/QuotaStore.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { makeBranchQueue } from "./branchQueue.ts"

export const makeStartRoom = Effect.gen(function* () {
  const pending = yield* OperationStore
  const quotas = yield* Quotas
  const { hasRoom } = yield* makeBranchQueue

  const startsOf = ({ branch_id, id: endpoint_id }: Endpoint) =>
    pending.unfinished(branch_id, { actions: ["start_compute"], endpoint_id, limit: 1 })

  /** Takes the places of another start. `waiting` is what waits on the branch, if that is all of it. */
  const forStart = Effect.fnUntraced(function* (
    org: OrgId,
    endpoint: Endpoint,
    waiting: Option.Option<ReadonlyArray<StoredOperation>>
  ) {
    if (Option.isNone(waiting)) yield* hasRoom(endpoint.branch_id)
    const starts = Option.isSome(waiting) ? waiting.value : yield* startsOf(endpoint)
    if (takesCompute(endpoint, starts)) return
    yield* quotas.take(org, { running_computes: 1, memory_bytes: endpoint.size?.memory_bytes ?? 0 })
  })

  /** Takes what another size has more of memory. A compute that does not run takes it at its start. */
  const forSize = Effect.fnUntraced(function* (org: OrgId, endpoint: Endpoint, size: EndpointSize | null) {
    const more = (size?.memory_bytes ?? 0) - (endpoint.size?.memory_bytes ?? 0)
    if (more > 0 && takesCompute(endpoint, yield* startsOf(endpoint))) yield* quotas.take(org, { memory_bytes: more })
  })

  return { forSize, forStart }
})
