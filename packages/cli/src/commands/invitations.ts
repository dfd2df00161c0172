/**
 * `narthex invitation list|accept|decline`: the invitations of the signed-in person, of every organization
 * (docs/design/cli.md C19).
 */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { answered, everyPage, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { confirm } from "../input/confirm.ts"
import { idArgument, yesFlag } from "../input/flags.ts"
import { receivedInvitation } from "../names/members.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { instant, personText, printable, rows, sentence } from "../output/table.ts"
import { listSent, sentInvitations } from "./sentInvitations.ts"

const invitationArgument = idArgument("invitation_id", "invitation", "narthex invitation list")

const sentFlag = Flag.Boolean("sent").pipe(
  Flag.withoutNegation,
  Flag.withDescription("The invitations that your organization sent"),
  Flag.withDefault(false)
)

const list = Command.make("list", { sent: sentFlag }, ({ sent }) =>
  reporting(
    Effect.gen(function* () {
      if (sent) return yield* listSent
      const output = yield* Output
      const { client } = yield* (yield* Connection).authenticated
      const { body, value } = yield* output.waiting(
        "Listing invitations",
        everyPage("invitations", (query) => client.api.ownInvitations.list({ query, ...withBody }))
      )
      yield* output.answer({
        body,
        table: rows(
          ["id", "organization", "role", "invited by", "expires"],
          ...value.map(({ expires_at, id, invited_by, organization, role }) => [
            id,
            organization.name,
            role,
            personText(invited_by),
            instant(expires_at)
          ])
        ),
        empty: "No organization invites you."
      })
    })
  )
).pipe(
  Command.withDescription("List the organizations that invite you"),
  Command.withExamples([
    { command: "narthex invitation list" },
    { command: "narthex invitation list --sent", description: "Whom your organization invited" }
  ])
)

const accept = Command.make("accept", { invitation_id: invitationArgument }, ({ invitation_id: given }) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      const { client } = api
      const invitation_id = yield* receivedInvitation(api, given)
      const { body, value } = yield* output.waiting(
        "Accepting the invitation",
        answered(client.api.ownInvitations.accept({ params: { invitation_id }, ...withBody }))
      )
      const { name, role } = value.organization
      yield* output.answer({ body, table: sentence(`You are a member of ${printable(name)} (${printable(role)}).`) })
      yield* output.note(
        "For a key of this organization: narthex login --context <name>, and choose it in the browser."
      )
    })
  )
).pipe(
  Command.withDescription("Become a member of the organization"),
  Command.withExamples([{ command: "narthex invitation accept 0198f3d2" }])
)

const decline = Command.make(
  "decline",
  { invitation_id: invitationArgument, yes: yesFlag },
  ({ invitation_id: given, yes }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const { client } = api
        const invitation_id = yield* receivedInvitation(api, given)
        yield* confirm("The invitation will end. To join later you need a new one.", yes)
        yield* output.waiting(
          "Declining the invitation",
          client.api.ownInvitations.decline({ params: { invitation_id } })
        )
        yield* output.note("The invitation is declined.")
      })
    )
).pipe(
  Command.withDescription("Decline the invitation"),
  Command.withExamples([{ command: "narthex invitation decline 0198f3d2" }])
)

export const invitation = Command.make("invitation").pipe(
  Command.withDescription("Invitations: those that you received, and those of your organization"),
  Command.withSubcommands([list, accept, decline, ...sentInvitations])
)
