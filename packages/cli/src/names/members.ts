/** The members, invitations and keys that a command names. */
import { normalizeEmail, type OrgId, parseApiKeyId, parseInvitationId, parseUserId } from "@narthex/api"
import { Effect, Option } from "effect"
import { withBody } from "../connection/answers.ts"
import type { AuthenticatedApi } from "../connection/Connection.ts"
import { type Kind, objectsOf, resolve } from "./resolve.ts"

const members: Kind = { one: "member", many: "members", list: "narthex member list" }
const invitations: Kind = { one: "invitation", many: "invitations", list: "narthex invitation list --sent" }
const received: Kind = { ...invitations, list: "narthex invitation list" }
const keys: Kind = { one: "key", many: "keys", list: "narthex api-key list" }

/** An address in the spelling of the API, which has invitations in it; other text without white space around it. */
const spelled = (name: string) => normalizeEmail(name.trim()) ?? name.trim()

const known = (names: ReadonlyArray<string | null>) => names.filter((name) => name !== null).map(spelled)

/** The member with this address, name or user id. The address is the best name: it is unique. */
export const memberNamed = Effect.fnUntraced(function* ({ client }: AuthenticatedApi, org_id: OrgId, name: string) {
  const listed = objectsOf(
    "members",
    (query) => client.api.orgs.members({ params: { org_id }, query, ...withBody }),
    (member) => ({ id: member.user_id, names: known([member.email, member.name, member.user_id]), member })
  )
  const id = parseUserId(name)
  return (yield* resolve(members, { name: Option.getOrElse(id, () => spelled(name)) }, yield* listed)).member
})

/** The id of the invitation to this address; of several the pending one. */
export const invitationNamed = Effect.fnUntraced(function* ({ client }: AuthenticatedApi, org_id: OrgId, name: string) {
  const id = parseInvitationId(name)
  if (Option.isSome(id)) return id.value
  const listed = yield* objectsOf(
    "invitations",
    (query) => client.api.invitations.list({ params: { org_id }, query, ...withBody }),
    (invitation) => ({ id: invitation.id, names: known([invitation.email]), status: invitation.status })
  )
  const open = listed.objects.filter(({ status }) => status === "pending" || status === "expired")
  return (yield* resolve(invitations, { name: spelled(name) }, { ...listed, objects: open })).id
})

/** The id of the invitation that the caller has received. */
export const receivedInvitation = Effect.fnUntraced(function* ({ client }: AuthenticatedApi, name: string) {
  const id = parseInvitationId(name)
  if (Option.isSome(id)) return id.value
  const listed = objectsOf(
    "invitations",
    (query) => client.api.ownInvitations.list({ query, ...withBody }),
    (invitation) => ({ id: invitation.id, names: [] })
  )
  return (yield* resolve(received, { name }, yield* listed)).id
})

/** The id of the key with this name. */
export const keyNamed = Effect.fnUntraced(function* ({ client }: AuthenticatedApi, name: string) {
  const id = parseApiKeyId(name)
  if (Option.isSome(id)) return id.value
  const listed = objectsOf(
    "api_keys",
    (query) => client.api.apiKeys.list({ query, ...withBody }),
    (key) => ({ id: key.id, names: [key.name] })
  )
  return (yield* resolve(keys, { name }, yield* listed)).id
})
