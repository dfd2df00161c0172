/**
 * The internal event that a cancel request has reached a proxy without its session. Every proxy sees it, and the one that has the
 * session forwards the request (docs/design/proxy.md P49).
 *
 * The event belongs to no organization: the first proxy knows only the key, of which the log gets a digest.
 */
import { Option, Schema } from "effect"
import { OrgId } from "../../Ids.ts"
import type { EventData, NewEvent } from "./Envelope.ts"
import { internalEvent } from "./InternalEvents.ts"

export const cancelRequestedType = "internal.cancel_requested.v1"

export const CancelNotice = Schema.Struct({
  /** The SHA-256 of the cancel key, as hexadecimal digits. */
  key_hash: Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)),
  /** The address of the client, which the allowlist has to admit. */
  client_address: Schema.String.check(Schema.isMaxLength(64))
})
export type CancelNotice = typeof CancelNotice.Type

/** No organization has this id. */
const noOrganization = OrgId.make("00000000-0000-0000-0000-000000000000")

export const cancelRequested = (notice: CancelNotice): NewEvent =>
  internalEvent(noOrganization, null, cancelRequestedType, { ...notice })

const decode = Schema.decodeUnknownOption(CancelNotice)

/** The notice in an event. */
export const cancelNoticeOf = (event: {
  readonly internal: boolean
  readonly type: string
  readonly data: EventData
}): Option.Option<CancelNotice> =>
  event.internal && event.type === cancelRequestedType ? decode(event.data) : Option.none()
