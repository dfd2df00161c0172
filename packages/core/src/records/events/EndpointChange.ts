/**
 * The internal event that an endpoint was disabled, suspended, deleted or is started again for its size. Proxies that see it ask
 * where the endpoint is again, and cut the sessions that it may not have any more (docs/design/proxy.md P37).
 */
import { Option, Schema } from "effect"
import { EndpointId, type OrgId, type ProjectId } from "../../Ids.ts"
import type { EventData, NewEvent } from "./Envelope.ts"
import { internalEvent } from "./InternalEvents.ts"

export const endpointChangedType = "internal.endpoint_changed.v1"

export const EndpointChange = Schema.Struct({ endpoint_id: EndpointId })
export type EndpointChange = typeof EndpointChange.Type

export const endpointChanged = (org_id: OrgId, project_id: ProjectId, change: EndpointChange): NewEvent =>
  internalEvent(org_id, project_id, endpointChangedType, { ...change })

const decode = Schema.decodeUnknownOption(EndpointChange)

/** The change of an endpoint in an event. */
export const endpointChangeOf = (event: {
  readonly internal: boolean
  readonly type: string
  readonly data: EventData
}): Option.Option<EndpointChange> =>
  event.internal && event.type === endpointChangedType ? decode(event.data) : Option.none()
