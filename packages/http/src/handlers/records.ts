/** Records and pages of the core as answers hold them. */
import { type PageQuery, pageRequest } from "@narthex/api"
import { type Endpoint, ProxyAddress, type StoredOperation, viewEndpoint } from "@narthex/core"
import { Effect } from "effect"
import { problems } from "../toProblem.ts"

/** The page that a query asks for; a cursor that this API did not issue is 400. */
export const pageOf = (query: PageQuery) => problems(Effect.fromResult(pageRequest(query)))

/** An endpoint with the host and port of the proxy that serves it. */
export const endpointRecord = (endpoint: Endpoint) => Effect.map(ProxyAddress, (proxy) => viewEndpoint(proxy, endpoint))

export const operationRecords = (operations: ReadonlyArray<StoredOperation>) =>
  operations.map((operation) => operation.view)

/** An endpoint, and the operations that were started on it. */
export const endpointWork = ({
  endpoint,
  operations
}: {
  readonly endpoint: Endpoint
  readonly operations: ReadonlyArray<StoredOperation>
}) => Effect.map(endpointRecord(endpoint), (record) => ({ endpoint: record, operations: operationRecords(operations) }))
