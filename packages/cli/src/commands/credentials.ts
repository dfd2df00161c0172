/** `narthex credential list|revoke`: the Postgres roles that were minted on a branch. */
import { Effect, type Option } from "effect"
import { Argument, Command } from "effect/cli"
import { everyPage, withBody } from "../connection/answers.ts"
import { type AuthenticatedApi, Connection } from "../connection/Connection.ts"
import { confirm } from "../input/confirm.ts"
import { branchFlag, projectFlag, yesFlag } from "../input/flags.ts"
import { chooseBranch } from "../names/branches.ts"
import { chooseProject } from "../names/projects.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { instant, rows } from "../output/table.ts"

interface Given {
  readonly project: Option.Option<string>
  readonly branch: Option.Option<string>
}

/** The path of the branch that the flags name. */
const pathOf = Effect.fnUntraced(function* (api: AuthenticatedApi, { branch, project }: Given) {
  const chosen = yield* chooseProject(api, project)
  return { project_id: chosen.id, branch_id: yield* chooseBranch(api, chosen, branch) }
})

const list = Command.make("list", { project: projectFlag, branch: branchFlag }, (given) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      const asked = Effect.gen(function* () {
        const params = yield* pathOf(api, given)
        return yield* everyPage("credentials", (query) =>
          api.client.api.branches.credentials({ params, query, ...withBody })
        )
      })
      const { body, value } = yield* output.waiting("Listing credentials", asked)
      yield* output.answer({
        body,
        table: rows(
          ["role", "access", "state", "by", "key", "created", "expires"],
          ...value.map((credential) => [
            credential.role,
            credential.access,
            credential.state,
            credential.minted_by?.email ?? credential.minted_by?.id ?? "unknown",
            credential.api_key_name ?? "-",
            instant(credential.created_at),
            instant(credential.expires_at) ?? "never"
          ])
        ),
        empty: "There are no credentials."
      })
    })
  )
).pipe(
  Command.withDescription("List the database credentials of a branch that you may revoke"),
  Command.withExamples([{ command: "narthex credential list --project shop --branch main" }])
)

const revoke = Command.make(
  "revoke",
  {
    role: Argument.String("role").pipe(
      Argument.withDescription("The name of the Postgres role, role_…"),
      Argument.filter(
        (text) => /^role_[a-z0-9]+$/.test(text),
        () => "Expected a role such as role_4f…; narthex credential list shows the names"
      )
    ),
    project: projectFlag,
    branch: branchFlag,
    yes: yesFlag
  },
  (given) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const path = yield* pathOf(api, given)
        yield* confirm(
          `The role ${given.role} will be revoked and its sessions end, which cannot be undone.`,
          given.yes
        )
        const params = { ...path, role: given.role }
        yield* output.waiting("Revoking the credential", api.client.api.branches.revokeCredential({ params }))
        yield* output.note("The credential is revoked.")
      })
    )
).pipe(
  Command.withDescription("Revoke a database credential and end its sessions"),
  Command.withExamples([{ command: "narthex credential revoke role_4f… --project shop --branch main" }])
)

export const credential = Command.make("credential").pipe(
  Command.withDescription("Database credentials of a branch"),
  Command.withSubcommands([list, revoke])
)
