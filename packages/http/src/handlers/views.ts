/** Records of the core as the API shows them, where that needs to know the server. */
import { type Endpoint, ProxyAddress, type StoredOperation, viewEndpoint } from "@narthex/core"
import { Effect } from "effect"

export const shown = (endpoint: Endpoint) => Effect.map(ProxyAddress, (proxy) => viewEndpoint(proxy, endpoint))

export const views = (operations: ReadonlyArray<StoredOperation>) => operations.map((operation) => operation.view)

/** An endpoint and the operations that were started on it. */
export const worked = ({
  endpoint,
  operations
}: {
  readonly endpoint: Endpoint
  readonly operations: ReadonlyArray<StoredOperation>
}) => Effect.map(shown(endpoint), (view) => ({ endpoint: view, operations: views(operations) }))
