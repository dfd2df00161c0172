/** The state that an endpoint's unfinished operations lead to. */
import { Option } from "effect"
import type { OperationAction, StoredOperation } from "../../records/operations/Operation.ts"
import type { Endpoint } from "../../records/projects/Endpoint.ts"

/** The actions that `desiredState` looks at. */
export const movesEndpoint: ReadonlyArray<OperationAction> = ["start_compute", "suspend_compute", "reset_branch"]

/**
 * The state that the newest unfinished start or suspend asks for, with that operation as `by`; else the state that the
 * endpoint is in, and `by` is `None`. A reset of the branch counts as a suspend. `unfinished` are the operations of the
 * endpoint's branch, oldest first.
 */
export const desiredState = (
  endpoint: Pick<Endpoint, "id" | "current_state">,
  unfinished: ReadonlyArray<StoredOperation>
): { readonly state: "active" | "idle"; readonly by: Option.Option<StoredOperation> } => {
  const last = unfinished.findLast(
    (operation) =>
      operation.action === "reset_branch" ||
      (operation.endpoint_id === endpoint.id &&
        (operation.action === "start_compute" || operation.action === "suspend_compute"))
  )
  if (last === undefined) return { state: endpoint.current_state === "active" ? "active" : "idle", by: Option.none() }
  return { state: last.action === "start_compute" ? "active" : "idle", by: Option.some(last) }
}

/**
 * Whether an endpoint that is led to `active` needs another start for its size: its compute runs with the former one, or the
 * start that is under way may give it that. A start that has not begun gives it the new one.
 */
export const needsAnotherStart = (
  { resized }: Pick<Endpoint, "resized">,
  { by, state }: ReturnType<typeof desiredState>
): boolean => resized && state === "active" && !Option.exists(by, ({ status }) => status === "scheduling")
