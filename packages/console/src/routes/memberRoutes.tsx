/** The people of an organization: members, their roles, removal, and invitations. */
import { GrantedRole, Invite, type OrgId, parseInvitationId, parseOrgId, parseUserId, type UserId } from "@narthex/api"
import { Effect, Schema } from "effect"
import { ApiRefused, calling, idOrNotFound, refusedWith } from "../api/ApiRefusal.ts"
import { callOnce, newFormToken } from "../api/formToken.ts"
import { payload } from "../api/payload.ts"
import type { FieldError } from "../components/ErrorSummary.tsx"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { noticeIn, withNotice } from "../requests/notices.ts"
import { inOrganization, type Visit } from "../requests/Visit.ts"
import { linkOf } from "../sessions/invitationLinks.ts"
import { MemberPage } from "../views/Member.tsx"
import { MembersPage } from "../views/Members.tsx"
import { page, seeOther } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

const organizationOf = (visit: Visit) => idOrNotFound(parseOrgId(visit.param("org_id")))

interface MembersState {
  readonly status: number
  readonly draft?: { readonly email: string; readonly role: string }
  readonly errors?: ReadonlyArray<FieldError>
  readonly problem?: string
}

const noInvitations = { invitations: [], pagination: { next_cursor: null } }

/** Invitations are asked for only when the person may see them: members may not, because of the addresses. */
const membersPage = Effect.fnUntraced(function* (visit: Visit, state: MembersState = { status: 200 }) {
  const params = { org_id: yield* organizationOf(visit) }
  const [cursor, older] = [visit.query.get("cursor"), visit.query.get("invitations")]
  const mayInvite = visit.frame.permissions.includes("manage_invitations")
  const [{ members, pagination }, invited] = yield* Effect.all(
    [
      calling((api) => api.orgs.members({ params, query: cursor === null ? {} : { cursor } })),
      mayInvite
        ? calling((api) => api.invitations.list({ params, query: older === null ? {} : { cursor: older } }))
        : Effect.succeed(noInvitations)
    ],
    { concurrency: "unbounded" }
  )
  const open = invited.invitations.filter(({ status }) => status === "pending")
  const links = yield* Effect.forEach(open, (invitation) =>
    Effect.map(linkOf(invitation, visit.frame.organization.name), (link) => [invitation.id, link] as const)
  )
  return page(
    <MembersPage
      frame={visit.frame}
      members={members}
      next_cursor={pagination.next_cursor}
      invitations={mayInvite ? invited.invitations : null}
      next_invitations={invited.pagination.next_cursor}
      links={new Map(links)}
      draft={state.draft ?? { email: "", role: "member" }}
      form_token={newFormToken()}
      errors={state.errors ?? []}
      notice={noticeIn(visit.query)}
      problem={state.problem}
    />,
    { status: state.status }
  )
})

const correctable = refusedWith("invalid_request", "conflict", "quota_exceeded", "role_insufficient", "rate_limited")

const inviteErrors = (refusal: ApiRefused): Pick<MembersState, "errors" | "problem"> => {
  if (refusal.about("email") !== undefined)
    return { errors: [{ field: "email", sentence: "Enter an email address, such as ada@example.com." }] }
  if (refusal.about("role") !== undefined)
    return { errors: [{ field: "role", sentence: "Choose one of the roles of the list." }] }
  return { problem: refusal.detail }
}

const invite = inOrganization((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const params = { org_id: yield* organizationOf(visit) }
    const draft = { email: form.text("email"), role: form.text("role") }
    return yield* Effect.gen(function* () {
      const body = yield* payload(Invite, draft)
      yield* callOnce(form)(calling((api) => api.invitations.invite({ params, payload: body })))
      return seeOther(withNotice(`${visit.home}/members`, "invited"))
    }).pipe(
      Effect.catchIf(correctable, (refusal) =>
        membersPage(visit, { status: refusal.status, draft, ...inviteErrors(refusal) })
      )
    )
  })
)

/** An invitation that was answered or revoked in another place is a sentence on the page. */
const withInvitation = (verb: "resend" | "revoke", notice: "invitation-renewed" | "invitation-revoked") =>
  inOrganization((visit) =>
    Effect.gen(function* () {
      yield* Form.read
      const params = {
        org_id: yield* organizationOf(visit),
        invitation_id: yield* idOrNotFound(parseInvitationId(visit.param("invitation_id")))
      }
      yield* calling((api) =>
        verb === "resend" ? Effect.asVoid(api.invitations.resend({ params })) : api.invitations.revoke({ params })
      )
      return seeOther(withNotice(`${visit.home}/members`, notice))
    }).pipe(
      Effect.catchIf(refusedWith("conflict", "quota_exceeded", "role_insufficient"), (refusal) =>
        membersPage(visit, { status: refusal.status, problem: refusal.detail })
      )
    )
  )

/** Pages of members that a page about one of them reads at most; the API has no call for a single member. */
const searchedPages = 10

const findMember = Effect.fnUntraced(function* (org_id: OrgId, user_id: UserId) {
  let cursor: string | null = null
  for (let read = 0; read < searchedPages; read++) {
    const query: { readonly limit: number; readonly cursor?: string } = {
      limit: 1000,
      ...(cursor === null ? {} : { cursor })
    }
    const answer = yield* calling((api) => api.orgs.members({ params: { org_id }, query }))
    const found = answer.members.find((member) => member.user_id === user_id)
    if (found !== undefined) return found
    cursor = answer.pagination.next_cursor
    if (cursor === null) break
  }
  return yield* new ApiRefused({ status: 404, code: "not_found", detail: "Not found." })
})

interface MemberState {
  readonly status: number
  readonly role?: string
  readonly errors?: ReadonlyArray<FieldError>
  readonly problem?: string
}

const memberOf = (visit: Visit) =>
  Effect.all({
    org_id: organizationOf(visit),
    user_id: idOrNotFound(parseUserId(visit.param("user_id")))
  })

/** Asks for the member's keys and credentials, which a removal ends, only when the person may remove the member. */
const memberPage = Effect.fnUntraced(function* (visit: Visit, state: MemberState = { status: 200 }) {
  const params = yield* memberOf(visit)
  const member = yield* findMember(params.org_id, params.user_id)
  const isSelf = params.user_id === visit.frame.user.id
  const mayRemove = isSelf || visit.frame.permissions.includes("manage_members")
  const held = mayRemove ? yield* calling((api) => api.orgs.holdings({ params })) : null
  return page(
    <MemberPage
      frame={visit.frame}
      member={member}
      is_self={isSelf}
      holdings={held?.holdings ?? null}
      selected_role={state.role ?? member.role}
      errors={state.errors ?? []}
      notice={noticeIn(visit.query)}
      problem={state.problem}
    />,
    { status: state.status }
  )
})

const refusable = refusedWith("invalid_request", "conflict", "role_insufficient")
const ChangeRole = Schema.Struct({ role: GrantedRole })

/** A person who lowers their own role loses rights at once, so that change needs a confirmation. */
const changeRole = inOrganization((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const params = yield* memberOf(visit)
    const role = form.text("role")
    const isSelf = params.user_id === visit.frame.user.id
    if (isSelf && form.text("confirm") !== "true")
      return yield* memberPage(visit, {
        status: 422,
        role,
        errors: [{ field: "confirm", sentence: "Confirm that you may lose rights yourself." }]
      })
    return yield* Effect.gen(function* () {
      const body = yield* payload(ChangeRole, { role })
      const query = isSelf ? { confirm_self_lockout: "true" } : {}
      yield* calling((api) => api.orgs.changeMember({ params, query, payload: body }))
      return seeOther(withNotice(`${visit.home}/members`, "role-changed"))
    }).pipe(
      Effect.catchIf(refusable, (refusal) =>
        memberPage(
          visit,
          refusal.about("role") === undefined
            ? { status: refusal.status, role, problem: refusal.detail }
            : { status: 422, errors: [{ field: "role", sentence: "Choose one of the roles of the list." }] }
        )
      )
    )
  })
)

/** Removes another member; leaving is `POST …/leave`, which also switches the session. */
const removeMember = inOrganization((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const params = yield* memberOf(visit)
    const query = form.text("hand_over") === "true" ? { hand_over_credentials: "true" as const } : {}
    yield* calling((api) => api.orgs.removeMember({ params, query }))
    return seeOther(withNotice(`${visit.home}/members`, "member-removed"))
  }).pipe(
    Effect.catchIf(refusable, (refusal) => memberPage(visit, { status: refusal.status, problem: refusal.detail }))
  )
)

const members = "/orgs/:org_id/members"
const member = `${members}/:user_id` as const
const invitations = "/orgs/:org_id/invitations"

/** The address of a form that was shown again with errors; a GET of it redirects to the members. */
const showMembers = inOrganization((visit) => Effect.succeed(seeOther(`${visit.home}/members`)))
const showMember = inOrganization((visit) =>
  Effect.succeed(seeOther(`${visit.home}/members/${encodeURIComponent(visit.param("user_id"))}`))
)

export const memberRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path: members, answer: inOrganization((visit) => membersPage(visit)) },
  { method: "GET", path: member, answer: inOrganization((visit) => memberPage(visit)) },
  { method: "GET", path: `${member}/role`, answer: showMember },
  { method: "POST", path: `${member}/role`, answer: changeRole },
  { method: "GET", path: `${member}/remove`, answer: showMember },
  { method: "POST", path: `${member}/remove`, answer: removeMember },
  { method: "GET", path: invitations, answer: showMembers },
  { method: "POST", path: invitations, answer: invite },
  {
    method: "POST",
    path: `${invitations}/:invitation_id/resend`,
    answer: withInvitation("resend", "invitation-renewed")
  },
  {
    method: "POST",
    path: `${invitations}/:invitation_id/revoke`,
    answer: withInvitation("revoke", "invitation-revoked")
  }
]
