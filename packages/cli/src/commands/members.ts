/** `narthex member list|set-role|remove|leave`: the members of the credential's organization. */
import { GrantedRole, type Member } from "@narthex/api"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { answered, everyPage, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { Stopped } from "../failures/LocalFailure.ts"
import { confirm } from "../input/confirm.ts"
import { fittingArgument, pastedArgument, yesFlag } from "../input/flags.ts"
import { memberNamed } from "../names/members.ts"
import { ownOrganization } from "../names/organization.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { facts, instant, rows } from "../output/table.ts"

const called = ({ email, name, user_id }: Pick<Member, "email" | "name" | "user_id">) => email ?? name ?? user_id

const list = Command.make("list", {}, () =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      const asked = Effect.flatMap(ownOrganization(api), ({ id }) =>
        everyPage("members", (query) => api.client.api.orgs.members({ params: { org_id: id }, query, ...withBody }))
      )
      const { body, value } = yield* output.waiting("Listing members", asked)
      yield* output.answer({
        body,
        table: rows(
          ["email", "name", "role", "joined", "id"],
          ...value.map(({ email, joined_at, name, role, user_id }) => [email, name, role, instant(joined_at), user_id])
        ),
        empty: "There are no members."
      })
    })
  )
).pipe(
  Command.withDescription("List the members of the organization"),
  Command.withExamples([{ command: "narthex member list" }])
)

const memberArgument = pastedArgument("member").pipe(
  Argument.withDescription("The e-mail address, name or user id of the member")
)

const setRole = Command.make(
  "set-role",
  {
    member: memberArgument,
    role: fittingArgument("role", GrantedRole).pipe(
      Argument.withDescription("viewer, member, admin, owner, or a role that the service declares")
    ),
    yes: yesFlag
  },
  ({ member: name, role, yes }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const { id: org_id, user_id } = yield* ownOrganization(api)
        const member = yield* memberNamed(api, org_id, name)
        const own = member.user_id === user_id
        if (own && role !== member.role) yield* confirm(`Your own role changes from ${member.role} to ${role}.`, yes)
        const { body, value } = yield* output.waiting(
          "Changing the role",
          answered(
            api.client.api.orgs.changeMember({
              params: { org_id, user_id: member.user_id },
              query: own ? { confirm_self_lockout: "true" } : {},
              payload: { role },
              ...withBody
            })
          )
        )
        yield* output.answer({
          body,
          table: facts(["member", called(value.member)], ["role", value.member.role], ["id", value.member.user_id])
        })
      })
    )
).pipe(
  Command.withDescription("Change the role of a member"),
  Command.withExamples([{ command: "narthex member set-role ada@example.com admin" }])
)

const count = (number: number, one: string) => `${number} ${one}${number === 1 ? "" : "s"}`

const remove = Command.make(
  "remove",
  {
    member: memberArgument,
    handOver: Flag.Boolean("hand-over-credentials").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Take over the member's database credentials, which end otherwise"),
      Flag.withDefault(false)
    ),
    yes: yesFlag
  },
  ({ handOver, member: name, yes }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const { id: org_id, name: organization, user_id: own } = yield* ownOrganization(api)
        const member = yield* memberNamed(api, org_id, name)
        if (member.user_id === own) return yield* new Stopped({ message: "This is you.", hint: "narthex member leave" })
        const params = { org_id, user_id: member.user_id }
        const { holdings } = yield* api.client.api.orgs.holdings({ params })
        const keys = count(holdings.api_keys_count, "API key")
        const credentials = count(holdings.credentials_count, "database credential")
        yield* confirm(
          `${called(member)} will lose access to ${organization}. ${keys} end${holdings.api_keys_count === 1 ? "s" : ""}; ${credentials} ${handOver ? "become yours" : "end, too"}.`,
          yes
        )
        yield* output.waiting(
          "Removing the member",
          api.client.api.orgs.removeMember({
            params,
            query: handOver ? { hand_over_credentials: "true" } : {}
          })
        )
        yield* output.note(`${called(member)} is removed.`)
      })
    )
).pipe(
  Command.withDescription("Remove a member, which ends the member's keys and credentials"),
  Command.withExamples([
    { command: "narthex member remove ada@example.com" },
    { command: "narthex member remove ada@example.com --hand-over-credentials --yes" }
  ])
)

const leave = Command.make("leave", { yes: yesFlag }, ({ yes }) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      const { id: org_id, name, user_id } = yield* ownOrganization(api)
      yield* confirm(
        `You will lose access to ${name}, and your keys and credentials there end, this one included.`,
        yes
      )
      yield* output.waiting(
        "Leaving the organization",
        api.client.api.orgs.removeMember({ params: { org_id, user_id }, query: { confirm_self_lockout: "true" } })
      )
      yield* output.note(
        `You are not a member of ${name} any more. Its stored key is not valid: narthex context remove <name>`
      )
    })
  )
).pipe(
  Command.withDescription("Leave the organization of the credential"),
  Command.withExamples([{ command: "narthex member leave" }])
)

export const member = Command.make("member").pipe(
  Command.withDescription("Members of the organization"),
  Command.withSubcommands([list, setRole, remove, leave])
)
