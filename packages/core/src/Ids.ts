/**
 * Branded identifiers, and the one place that makes them.
 *
 * A brand costs nothing at run time and makes it a type error to pass an organization where a project is
 * expected. The schemas do not check the form: a malformed id is answered like an unknown one (docs/design/api.md,
 * Identifiers). Ids sort by creation time; two made in the same millisecond do not sort among themselves.
 */
import { Clock, type DateTime, Effect, Schema } from "effect"
import { Hex } from "effect/encoding"
import { encodeTime } from "ulid"
import { Entropy } from "./Entropy.ts"

export const OrgId = Schema.NonEmptyString.pipe(Schema.brand("OrgId"))
export type OrgId = typeof OrgId.Type
export const UserId = Schema.NonEmptyString.pipe(Schema.brand("UserId"))
export type UserId = typeof UserId.Type
export const SessionId = Schema.NonEmptyString.pipe(Schema.brand("SessionId"))
export type SessionId = typeof SessionId.Type
export const InvitationId = Schema.NonEmptyString.pipe(Schema.brand("InvitationId"))
export type InvitationId = typeof InvitationId.Type
export const OperationId = Schema.NonEmptyString.pipe(Schema.brand("OperationId"))
export type OperationId = typeof OperationId.Type
export const ProjectId = Schema.NonEmptyString.pipe(Schema.brand("ProjectId"))
export type ProjectId = typeof ProjectId.Type
export const BranchId = Schema.NonEmptyString.pipe(Schema.brand("BranchId"))
export type BranchId = typeof BranchId.Type
export const EndpointId = Schema.NonEmptyString.pipe(Schema.brand("EndpointId"))
export type EndpointId = typeof EndpointId.Type
export const ApiKeyId = Schema.NonEmptyString.pipe(Schema.brand("ApiKeyId"))
export type ApiKeyId = typeof ApiKeyId.Type
export const WebhookId = Schema.NonEmptyString.pipe(Schema.brand("WebhookId"))
export type WebhookId = typeof WebhookId.Type
export const RegionId = Schema.NonEmptyString.pipe(Schema.brand("RegionId"))
export type RegionId = typeof RegionId.Type

/** Whether storage can hold the text and find it again: it has neither NUL nor a lone surrogate. */
export const isStorable = (text: string): boolean => !text.includes("\u0000") && text.isWellFormed()

/** Descriptive text as it is stored: at most so many characters, with U+FFFD for what storage cannot hold. */
export const described = (text: string, longest = 256): string =>
  text.slice(0, longest).replaceAll("\u0000", "\ufffd").toWellFormed()

/**
 * The id that a request names. Text that cannot be an id, because it is missing, empty or not storable, becomes an id
 * that no object has: it is answered like an unknown one.
 *
 * Pitfall: passing an id of a request to a store without this. Postgres refuses NUL, and the call answers 503.
 */
export const requestedId = <Id>(brand: { readonly make: (text: string) => Id }, text: string | undefined): Id =>
  brand.make(text !== undefined && text !== "" && isStorable(text) ? text : "-")

/** UUID version 7 (RFC 9562 §5.7): 48 bits of milliseconds, then 74 random bits. */
const uuidAt = Effect.fnUntraced(function* (now: number) {
  const bytes = yield* (yield* Entropy).bytes(16)
  bytes.forEach((byte, index) => {
    if (index < 6) bytes[index] = Math.floor(now / 2 ** (8 * (5 - index))) % 256
    if (index === 6) bytes[index] = 0x70 | (byte & 0x0f)
    if (index === 8) bytes[index] = 0x80 | (byte & 0x3f)
  })
  const hex = Hex.encode(bytes)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")
})

const uuid = Effect.flatMap(Clock.currentTimeMillis, uuidAt)

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

/** A lower-case ULID behind a prefix: 48 bits of milliseconds, 80 random bits. */
const prefixed = (prefix: string) =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const random = yield* (yield* Entropy).bytes(16)
    const tail = Array.from(random, (byte) => crockford[byte % 32]).join("")
    return `${prefix}-${(encodeTime(now, 10) + tail).toLowerCase()}`
  })

export const makeOrgId = Effect.map(uuid, OrgId.make)
export const makeUserId = Effect.map(uuid, UserId.make)
export const makeSessionId = Effect.map(uuid, SessionId.make)
export const makeInvitationId = Effect.map(uuid, InvitationId.make)
export const makeOperationId = Effect.map(uuid, OperationId.make)
/** The id of an entry of the audit log, by the instant of the act. */
export const makeAuditEntryId = ({ epochMilliseconds }: DateTime.Utc) => uuidAt(epochMilliseconds)
export const makeProjectId = Effect.map(prefixed("prj"), ProjectId.make)
export const makeBranchId = Effect.map(prefixed("br"), BranchId.make)
export const makeEndpointId = Effect.map(prefixed("ep"), EndpointId.make)
export const makeApiKeyId = Effect.map(prefixed("key"), ApiKeyId.make)
export const makeWebhookId = Effect.map(prefixed("wh"), WebhookId.make)
/** The id of an attempt of a webhook, by the instant at which it began. */
export const makeWebhookDeliveryId = ({ epochMilliseconds }: DateTime.Utc) => uuidAt(epochMilliseconds)

/** A text that sorts before the ids of the audit log from this instant on, and behind all earlier ones. */
export const auditIdFrom = ({ epochMilliseconds }: DateTime.Utc): string => {
  const time = Math.max(0, epochMilliseconds).toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}`
}
