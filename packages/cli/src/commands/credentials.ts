/** `narthex credential list|revoke`: the Postgres roles that were minted on a branch. */
import { parseBranchId } from "@narthex/api"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { everyPage, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { confirm } from "../input/confirm.ts"
import { projectFlag, yesFlag } from "../input/flags.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { instant, rows } from "../output/table.ts"

const branchFlag = Flag.String("branch").pipe(
  Flag.withMetavar("branch_id"),
  Flag.withDescription("The id of the branch, br-…"),
  Flag.filterMap(parseBranchId, () => "Expected a branch id such as br-01hzx…")
)

const list = Command.make("list", { project: projectFlag, branch: branchFlag }, (given) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const { client } = yield* (yield* Connection).authenticated
      const params = { project_id: given.project, branch_id: given.branch }
      const { body, value } = yield* output.waiting(
        "Listing credentials",
        everyPage("credentials", (query) => client.api.branches.credentials({ params, query, ...withBody }))
      )
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
  Command.withExamples([{ command: "narthex credential list --project prj-… --branch br-…" }])
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
        const { client } = yield* (yield* Connection).authenticated
        yield* confirm(
          `The role ${given.role} will be revoked and its sessions end, which cannot be undone.`,
          given.yes
        )
        const params = { project_id: given.project, branch_id: given.branch, role: given.role }
        yield* output.waiting("Revoking the credential", client.api.branches.revokeCredential({ params }))
        yield* output.note("The credential is revoked.")
      })
    )
).pipe(
  Command.withDescription("Revoke a database credential and end its sessions"),
  Command.withExamples([{ command: "narthex credential revoke role_4f… --project prj-… --branch br-…" }])
)

export const credential = Command.make("credential").pipe(
  Command.withDescription("Database credentials of a branch"),
  Command.withSubcommands([list, revoke])
)
