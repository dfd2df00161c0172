/** `narthex branch`: list, get and create. `branchChanges.ts` has the commands that change a branch. */
import { BranchName } from "@narthex/api"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { answered, everyPage, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { waitFlags } from "../following/follow.ts"
import { followChange } from "../following/followChange.ts"
import { branchArgument, fittingArgument, given, pastedFlag, projectFlag, ttlFlag } from "../input/flags.ts"
import { branchNamed, chooseBranch } from "../names/branches.ts"
import { chooseProject, inShell } from "../names/projects.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { facts } from "../output/table.ts"
import { branchFacts, branchPairs, branchRows } from "../tables/branches.ts"
import { hostPairs } from "../tables/endpoints.ts"
import { branchChanges } from "./branchChanges.ts"

const list = Command.make("list", { project: projectFlag }, ({ project }) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      const asked = Effect.gen(function* () {
        const { id } = yield* chooseProject(api, project)
        return yield* everyPage("branches", (query) =>
          api.client.api.branches.list({ params: { project_id: id }, query, ...withBody })
        )
      })
      const { body, value } = yield* output.waiting("Listing branches", asked)
      yield* output.answer({ body, table: branchRows(value), empty: "There are no branches." })
    })
  )
).pipe(
  Command.withDescription("List the branches of a project"),
  Command.withExamples([{ command: "narthex branch list --project shop" }])
)

const get = Command.make(
  "get",
  { branch: Argument.optional(branchArgument), project: projectFlag },
  ({ branch, project }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const asked = Effect.gen(function* () {
          const chosen = yield* chooseProject(api, project)
          const params = { project_id: chosen.id, branch_id: yield* chooseBranch(api, chosen, branch) }
          return yield* answered(api.client.api.branches.get({ params, ...withBody }))
        })
        const { body, value } = yield* output.waiting("Reading the branch", asked)
        yield* output.answer({ body, table: branchFacts(value.branch) })
      })
    )
).pipe(
  Command.withDescription("Show a branch; without a name, the default one"),
  Command.withExamples([{ command: "narthex branch get preview --project shop" }])
)

const create = Command.make(
  "create",
  {
    name: Argument.optional(
      fittingArgument("name", BranchName).pipe(
        Argument.withDescription("The name of the branch, unique in the project. Default: chosen by the server")
      )
    ),
    project: projectFlag,
    from: pastedFlag("from").pipe(
      Flag.withMetavar("branch"),
      Flag.withDescription("The branch to copy, its name or id. Default: the project's default branch"),
      Flag.optional
    ),
    ttl: ttlFlag("Delete the branch after this time: 90 (seconds), 30m, 8h, 7d. Default: never"),
    endpoint: Flag.Boolean("endpoint").pipe(
      Flag.withDescription("Create a read-write endpoint, so that clients can connect. Default: yes"),
      Flag.withDefault(true)
    ),
    protect: Flag.Boolean("protect").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Protect the branch from deletion and reset"),
      Flag.withDefault(false)
    ),
    ...waitFlags
  },
  ({ endpoint: withEndpoint, from, name, project, protect, timeout, ttl, wait }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const asked = Effect.gen(function* () {
          const chosen = yield* chooseProject(api, project)
          const parent = Option.isNone(from)
            ? {}
            : { parent_id: yield* branchNamed(api, chosen.id, { name: from.value }) }
          const payload = {
            ...given("name", name),
            ...given("ttl_seconds", ttl),
            ...parent,
            ...(protect ? { protected: true } : {}),
            endpoint: withEndpoint
          }
          return yield* answered(
            api.client.api.branches.create({ params: { project_id: chosen.id }, payload, ...withBody })
          )
        })
        const created = yield* output.waiting("Creating the branch", asked)
        const table = ({ branch, endpoint }: typeof created.value) =>
          facts(
            ...branchPairs(branch),
            ["endpoint", endpoint?.id ?? "none"],
            ...(endpoint === null ? [] : hostPairs(endpoint))
          )
        yield* followChange(api, created, table, { timeout, wait })
        const { branch, endpoint } = created.value
        const named = Option.map(project, (given) => inShell(given, branch.project_id))
        if (endpoint !== null)
          yield* output.note(
            `To connect: narthex psql ${[...Option.toArray(named), "--branch", branch.name].join(" ")}`
          )
      })
    )
).pipe(
  Command.withDescription("Create a branch: a copy of another branch's data"),
  Command.withExamples([
    { command: "narthex branch create preview --project shop" },
    { command: "narthex branch create pr-42 --from preview --ttl 7d --wait", description: "For a week" }
  ])
)

export const branch = Command.make("branch").pipe(
  Command.withDescription("Branches: copies of a project's data"),
  Command.withSubcommands([list, get, create, ...branchChanges])
)
