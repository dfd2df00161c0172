/**
 * `narthex invitation create|resend|revoke`, and `invitation list --sent`: the invitations of the credential's
 * organization. `invitations.ts` has those that a person received.
 */
import { GrantedRole, type InvitationRecord, Invite } from "@narthex/api"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { answered, everyPage, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { confirm } from "../input/confirm.ts"
import { fittingArgument, fittingFlag, given, pastedArgument, yesFlag } from "../input/flags.ts"
import { findConsole } from "../login/Browser.ts"
import { invitationNamed } from "../names/members.ts"
import { ownOrganization } from "../names/organization.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { facts, instant, rows } from "../output/table.ts"

type Invitation = typeof InvitationRecord.Type

const invitationFacts = (invitation: Invitation) =>
  facts(
    ["invitation", invitation.id],
    ["email", invitation.email],
    ["role", invitation.role],
    ["status", invitation.status],
    ["expires", instant(invitation.expires_at)]
  )

/** Runs `invitation list --sent`. */
export const listSent = Effect.gen(function* () {
  const output = yield* Output
  const api = yield* (yield* Connection).authenticated
  const asked = Effect.flatMap(ownOrganization(api), ({ id }) =>
    everyPage("invitations", (query) => api.client.api.invitations.list({ params: { org_id: id }, query, ...withBody }))
  )
  const { body, value } = yield* output.waiting("Listing invitations", asked)
  yield* output.answer({
    body,
    table: rows(
      ["email", "role", "status", "invited by", "expires", "id"],
      ...value.map(({ email, expires_at, id, invited_by, role, status }) => [
        email,
        role,
        status,
        invited_by.email ?? invited_by.id,
        instant(expires_at),
        id
      ])
    ),
    empty: "The organization has invited no one."
  })
})

/** No mail is sent, so the inviter passes on where the invitation is accepted. */
const noteWhere = (email: string) =>
  Effect.gen(function* () {
    const output = yield* Output
    const { client } = yield* (yield* Connection).authenticated
    const page = yield* Effect.match(findConsole(client), {
      onFailure: () => undefined,
      onSuccess: (console) => `${console}/invitations`
    })
    yield* output.note(
      `No mail is sent: ask ${email} to sign in${page === undefined ? "" : ` at ${page}`}, or to run narthex invitation list.`
    )
  })

const create = Command.make(
  "create",
  {
    email: fittingArgument("email", Invite.fields.email).pipe(Argument.withDescription("The e-mail address")),
    role: fittingFlag("role", GrantedRole).pipe(
      Flag.withDescription(
        "The role after accepting: viewer, member, admin, owner, or a role that the service declares. Default: member"
      ),
      Flag.optional
    )
  },
  ({ email, role }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const payload = { email, ...given("role", role) }
        const asked = Effect.flatMap(ownOrganization(api), ({ id }) =>
          answered(api.client.api.invitations.invite({ params: { org_id: id }, payload, ...withBody }))
        )
        const { body, value } = yield* output.waiting("Inviting", asked)
        yield* output.answer({ body, table: invitationFacts(value.invitation) })
        yield* noteWhere(value.invitation.email)
      })
    )
).pipe(
  Command.withDescription("Invite an e-mail address into the organization, for seven days"),
  Command.withExamples([{ command: "narthex invitation create bob@example.com --role admin" }])
)

const invitationArgument = pastedArgument("invitation").pipe(
  Argument.withDescription("The e-mail address or the id of the invitation")
)

const resend = Command.make("resend", { invitation: invitationArgument }, ({ invitation }) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      const asked = Effect.gen(function* () {
        const { id: org_id } = yield* ownOrganization(api)
        const params = { org_id, invitation_id: yield* invitationNamed(api, org_id, invitation) }
        return yield* answered(api.client.api.invitations.resend({ params, ...withBody }))
      })
      const { body, value } = yield* output.waiting("Renewing the invitation", asked)
      yield* output.answer({ body, table: invitationFacts(value.invitation) })
      yield* noteWhere(value.invitation.email)
    })
  )
).pipe(
  Command.withDescription("Renew an invitation for seven days"),
  Command.withExamples([{ command: "narthex invitation resend bob@example.com" }])
)

const revoke = Command.make("revoke", { invitation: invitationArgument, yes: yesFlag }, ({ invitation, yes }) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      const { id: org_id, name } = yield* ownOrganization(api)
      const params = { org_id, invitation_id: yield* invitationNamed(api, org_id, invitation) }
      yield* confirm(`The invitation of ${invitation} into ${name} will end.`, yes)
      yield* output.waiting("Revoking the invitation", api.client.api.invitations.revoke({ params }))
      yield* output.note("The invitation is revoked.")
    })
  )
).pipe(
  Command.withDescription("Revoke an invitation"),
  Command.withExamples([{ command: "narthex invitation revoke bob@example.com" }])
)

/** The commands for an organization's invitations, for `invitations.ts`. */
export const sentInvitations = [create, resend, revoke] as const
