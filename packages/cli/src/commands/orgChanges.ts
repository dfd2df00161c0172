/**
 * `narthex org create|get|rename|delete`. A credential serves its own organization, so the last three take no id
 * (docs/design/cli.md C9).
 */
import { Name, type OrganizationView } from "@narthex/api"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { answered, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { UsageMistake } from "../failures/LocalFailure.ts"
import { confirm } from "../input/confirm.ts"
import { fittingArgument, pastedArgument, yesFlag } from "../input/flags.ts"
import { openFlag, orInConsole } from "../login/consolePage.ts"
import { ownOrganization } from "../names/organization.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { facts, instant } from "../output/table.ts"
import { yesNo } from "../tables/states.ts"
import { openPage, webFlag } from "./open.ts"

const organizationFacts = (organization: OrganizationView) =>
  facts(
    ["organization", organization.id],
    ["name", organization.name],
    ["personal", yesNo(organization.personal)],
    ["role", organization.role],
    ["created", instant(organization.created_at)]
  )

const nameArgument = fittingArgument("name", Name).pipe(Argument.withDescription("The name; it need not be unique"))

const create = Command.make("create", { name: nameArgument, open: openFlag }, ({ name, open }) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      const call = answered(api.client.api.orgs.create({ payload: { name }, ...withBody }))
      const made = yield* orInConsole(api, output.waiting("Creating the organization", call), {
        what: "Creating an organization",
        path: () => "/orgs/new",
        open
      })
      if (made === undefined) return
      yield* output.answer({ body: made.body, table: organizationFacts(made.value.organization) })
      yield* output.note(
        "For a key of this organization: narthex login --context <name>, and choose it in the browser."
      )
    })
  )
).pipe(
  Command.withDescription("Create a team organization; needs a person's session"),
  Command.withExamples([{ command: "narthex org create Acme --open" }])
)

const get = Command.make("get", { web: webFlag }, ({ web }) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      if (web) return yield* openPage(api)
      const asked = Effect.flatMap(ownOrganization(api), ({ id }) =>
        answered(api.client.api.orgs.get({ params: { org_id: id }, ...withBody }))
      )
      const { body, value } = yield* output.waiting("Reading the organization", asked)
      yield* output.answer({ body, table: organizationFacts(value.organization) })
    })
  )
).pipe(
  Command.withDescription("Show the organization of the credential"),
  Command.withExamples([{ command: "narthex org get" }])
)

const rename = Command.make("rename", { name: nameArgument }, ({ name }) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      const asked = Effect.flatMap(ownOrganization(api), ({ id }) =>
        answered(api.client.api.orgs.rename({ params: { org_id: id }, payload: { name }, ...withBody }))
      )
      const { body, value } = yield* output.waiting("Renaming the organization", asked)
      yield* output.answer({ body, table: organizationFacts(value.organization) })
    })
  )
).pipe(
  Command.withDescription("Rename the organization of the credential"),
  Command.withExamples([{ command: "narthex org rename 'Acme Shipping'" }])
)

/** The argument is compared, so that a command for another context deletes nothing. */
const remove = Command.make(
  "delete",
  {
    organization: pastedArgument("organization").pipe(
      Argument.withDescription("The name or id of the organization of the credential")
    ),
    yes: yesFlag
  },
  ({ organization: given, yes }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const { id, name } = yield* ownOrganization(api)
        if (given !== id && given !== name)
          return yield* new UsageMistake({
            message: `The credential belongs to the organization ${name} (${id}), not to "${given}".`,
            hint: "narthex org switch <organization>, or --context <name>"
          })
        yield* confirm(
          `The organization ${name} (${id}) will be deleted, and all its keys end. This cannot be undone.`,
          yes
        )
        yield* output.waiting("Deleting the organization", api.client.api.orgs.delete({ params: { org_id: id } }))
        yield* output.note(
          "The organization is deleted. Its stored key is not valid any more: narthex context remove <name>"
        )
      })
    )
).pipe(
  Command.withDescription("Delete the organization of the credential, which must have no projects"),
  Command.withExamples([{ command: "narthex org delete Acme" }])
)

/** The commands that create, show and change an organization, for `orgs.ts`. */
export const orgChanges = [create, get, rename, remove] as const
