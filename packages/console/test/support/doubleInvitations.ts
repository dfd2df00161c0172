/** The API double's endpoints of a person's own invitations, and of leaving an organization. */
import { randomUUID } from "node:crypto"
import type { Answered } from "./ApiDouble.ts"
import type { DoubleState, Held, Person, StoredInvitation } from "./DoubleState.ts"

const at = "2026-11-20T12:00:00.000Z"

/** Invites a person with an account; answers the invitation's id. */
export const invite = (state: DoubleState, to: Person, by: Person, org: string): string => {
  const invitation = { id: randomUUID(), org, to, by }
  state.invitations.set(invitation.id, invitation)
  return invitation.id
}

export const inviterView = ({ email, id }: Person) => ({ id, email, name: "Grace Hopper" })

const view = (state: DoubleState, { by, id, org }: StoredInvitation) => ({
  id,
  organization: { id: org, name: state.orgs.get(org)?.name },
  role: "member",
  invited_by: inviterView(by),
  created_at: at,
  expires_at: "2026-11-27T12:00:00.000Z"
})

/** `undefined`: another endpoint; `"not_found"`: none of the person's. */
export const ownInvitations = (
  state: DoubleState,
  method: string,
  path: string,
  { person }: Held
): Answered | "not_found" | undefined => {
  const mine = [...state.invitations.values()].filter(({ to }) => to === person)
  if (method === "GET" && path === "/v1/invitations")
    return {
      status: 200,
      body: { invitations: mine.map((it) => view(state, it)), pagination: { next_cursor: null } }
    }
  const [, id, answer] = /^\/v1\/invitations\/([^/]+)\/(accept|decline)$/.exec(path) ?? []
  if (method !== "POST" || answer === undefined) return undefined
  const invitation = mine.find((it) => it.id === id)
  const org = state.orgs.get(invitation?.org ?? "")
  if (invitation === undefined || org === undefined) return "not_found"
  state.invitations.delete(invitation.id)
  if (answer === "decline") return { status: 204 }
  org.members.set(person.id, "member")
  const { id: org_id, name, personal } = org
  return {
    status: 200,
    body: { organization: { id: org_id, name, personal, role: "member", created_at: at, updated_at: at } }
  }
}
