/** The internal event that an allowlist has a new version. Proxies that see it load the allowlist again. */
import { Option, Schema } from "effect"
import { type OrgId, ProjectId } from "../../Ids.ts"
import type { EventData, NewEvent } from "../events/Envelope.ts"
import { internalEvent } from "../events/InternalEvents.ts"

export const allowlistChangedType = "internal.allowlist_changed.v1"

export const AllowlistChange = Schema.Struct({ project_id: ProjectId, version: Schema.Int })
export type AllowlistChange = typeof AllowlistChange.Type

export const allowlistChanged = (org_id: OrgId, change: AllowlistChange): NewEvent =>
  internalEvent(org_id, change.project_id, allowlistChangedType, { ...change })

const decode = Schema.decodeUnknownOption(AllowlistChange)

/** The allowlist change in an event. */
export const allowlistChangeOf = (event: {
  readonly internal: boolean
  readonly type: string
  readonly data: EventData
}): Option.Option<AllowlistChange> =>
  event.internal && event.type === allowlistChangedType ? decode(event.data) : Option.none()
