/** `narthex sandbox create`: a branch with an endpoint and a credential, deleted when it expires. */
import { BranchName, SandboxTtlSeconds } from "@narthex/api"
import { Effect, Option, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { secretLost } from "../connecting/mint.ts"
import { answered, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { follow, waitFlags } from "../following/follow.ts"
import { durationFlag, fittingArgument, given, pastedFlag, projectFlag } from "../input/flags.ts"
import { branchNamed } from "../names/branches.ts"
import { chooseProject } from "../names/projects.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { facts, instant } from "../output/table.ts"

const create = Command.make(
  "create",
  {
    name: Argument.optional(
      fittingArgument("name", BranchName).pipe(
        Argument.withDescription("The name of the branch. Default: chosen by the server")
      )
    ),
    project: projectFlag,
    from: pastedFlag("from").pipe(
      Flag.withMetavar("branch"),
      Flag.withDescription("The branch to copy, its name or id. Default: the project's default branch"),
      Flag.optional
    ),
    ttl: durationFlag("ttl", SandboxTtlSeconds).pipe(
      Flag.withDescription("Lifetime of the branch and the credential, at most 24h. Default: 1h"),
      Flag.optional
    ),
    ...waitFlags
  },
  ({ from, name, project, timeout, ttl, wait }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const asked = Effect.gen(function* () {
          const chosen = yield* chooseProject(api, project)
          const parent = Option.isNone(from)
            ? {}
            : { parent_id: yield* branchNamed(api, chosen.id, { name: from.value }) }
          const payload = { ...given("name", name), ...given("ttl_seconds", ttl), ...parent }
          return yield* answered(
            api.client.api.sandboxes.create({ params: { project_id: chosen.id }, payload, ...withBody })
          )
        })
        const { body, value } = yield* output.waiting("Creating the sandbox", asked)
        const { branch, connection_uri, credential, endpoint, operations } = value
        if (connection_uri === null) return yield* secretLost(credential.role)
        yield* output.answer({
          body,
          table: facts(
            ["branch", branch.id],
            ["name", branch.name],
            ["endpoint", endpoint.id],
            ["role", credential.role],
            ["expires", instant(branch.expires_at)],
            ["uri", Redacted.value(connection_uri)]
          )
        })
        yield* output.note("The password in the uri is shown only now.")
        yield* follow(api, operations, { timeout, wait })
      })
    )
).pipe(
  Command.withDescription("Create a short-lived branch with an endpoint and a credential"),
  Command.withExamples([
    { command: "narthex sandbox create --project shop --ttl 2h --wait" },
    { command: 'psql "$(narthex sandbox create -o json | jq -r .connection_uri)"' }
  ])
)

export const sandbox = Command.make("sandbox").pipe(
  Command.withDescription("Short-lived branches, for agents and tests"),
  Command.withSubcommands([create])
)
