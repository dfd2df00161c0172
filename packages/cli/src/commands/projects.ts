/** `narthex project list|create|get|rename|delete`; `projectOverview.ts` has the overview. */
import { Name, type ProjectRecord } from "@narthex/api"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { answered, everyPage, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { waitFlags } from "../following/follow.ts"
import { followChange } from "../following/followChange.ts"
import { followDeletion } from "../following/followDeletion.ts"
import { confirm } from "../input/confirm.ts"
import { fittingArgument, given, pastedFlag, projectArgument, sizeFlag, yesFlag } from "../input/flags.ts"
import { chooseProject, inShell, projectNamed } from "../names/projects.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { facts, instant, rows } from "../output/table.ts"
import { hostPairs } from "../tables/endpoints.ts"
import { openPage, webFlag } from "./open.ts"
import { overview } from "./projectOverview.ts"

const list = Command.make("list", {}, () =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const { client } = yield* (yield* Connection).authenticated
      const { body, value } = yield* output.waiting(
        "Listing projects",
        everyPage("projects", (query) => client.api.projects.list({ query, ...withBody }))
      )
      yield* output.answer({
        body,
        table: rows(["id", "name", "region", "created"], ...value.map(row)),
        empty: "There are no projects. Create one: narthex project create <name>"
      })
    })
  )
).pipe(
  Command.withDescription("List the projects that the credential can access"),
  Command.withExamples([
    { command: "narthex project list" },
    { command: "narthex project list -o json | jq -r '.projects[].id'", description: "Only the ids" }
  ])
)

type Project = typeof ProjectRecord.Type

const row = (project: Project) => [project.id, project.name, project.region_id, instant(project.created_at)]

const projectFacts = (project: Project) =>
  facts(
    ["project", project.id],
    ["name", project.name],
    ["region", project.region_id],
    ["default branch", project.default_branch_id],
    ["created", instant(project.created_at)],
    ["updated", instant(project.updated_at)]
  )

const create = Command.make(
  "create",
  {
    name: fittingArgument("name", Name).pipe(
      Argument.withDescription("The name of the project; it need not be unique")
    ),
    region: pastedFlag("region").pipe(
      Flag.withMetavar("region_id"),
      Flag.withDescription("The region of the project, which cannot change. Optional if only one region is active"),
      Flag.optional
    ),
    size: sizeFlag,
    ...waitFlags
  },
  ({ name, region, size, timeout, wait }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const payload = { name, ...given("region", region), ...given("size", size) }
        const created = yield* output.waiting(
          "Creating the project",
          answered(api.client.api.projects.create({ payload, ...withBody }))
        )
        const table = ({ branch, endpoint, project }: typeof created.value) =>
          facts(
            ["project", project.id],
            ["name", project.name],
            ["region", project.region_id],
            ["branch", `${branch.name} (${branch.id})`],
            ["endpoint", endpoint.id],
            ...hostPairs(endpoint)
          )
        yield* followChange(api, created, table, { timeout, wait })
        const { project } = created.value
        const called = inShell(project.name, project.id)
        yield* output.note(`To connect: narthex psql ${called}, or narthex connection-string ${called}`)
      })
    )
).pipe(
  Command.withDescription("Create a project with its default branch and endpoint"),
  Command.withExamples([
    { command: "narthex project create shop" },
    { command: "narthex project create shop --region eu-central", description: "If several regions are active" },
    { command: "narthex project create shop --size large", description: "The size of its endpoint: narthex size list" },
    { command: "narthex project create shop --wait", description: "Returns when its database is ready" }
  ])
)

const get = Command.make("get", { project: Argument.optional(projectArgument), web: webFlag }, ({ project, web }) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      if (web) return yield* openPage(api, (yield* chooseProject(api, project)).id)
      const asked = Effect.gen(function* () {
        const { id } = yield* chooseProject(api, project)
        return yield* answered(api.client.api.projects.get({ params: { project_id: id }, ...withBody }))
      })
      const { body, value } = yield* output.waiting("Reading the project", asked)
      yield* output.answer({ body, table: projectFacts(value.project) })
    })
  )
).pipe(
  Command.withDescription("Show a project; without a name, the default one"),
  Command.withExamples([{ command: "narthex project get shop" }, { command: "narthex project get --web" }])
)

const rename = Command.make(
  "rename",
  {
    project: projectArgument,
    name: fittingArgument("name", Name).pipe(Argument.withDescription("The new name"))
  },
  ({ name, project }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const asked = Effect.gen(function* () {
          const project_id = yield* projectNamed(api, { name: project })
          return yield* answered(
            api.client.api.projects.rename({ params: { project_id }, payload: { name }, ...withBody })
          )
        })
        const { body, value } = yield* output.waiting("Renaming the project", asked)
        yield* output.answer({ body, table: projectFacts(value.project) })
      })
    )
).pipe(
  Command.withDescription("Rename a project; its id and addresses stay"),
  Command.withExamples([{ command: "narthex project rename shop store" }])
)

const remove = Command.make(
  "delete",
  { project: projectArgument, yes: yesFlag, ...waitFlags },
  ({ project: name, timeout, wait, yes }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const project_id = yield* projectNamed(api, { name })
        const params = { project_id }
        const { project } = yield* api.client.api.projects.get({ params })
        yield* confirm(
          `The project ${project.name} (${project.id}) will be deleted with all its branches and their data, which cannot be undone.`,
          yes
        )
        const deletion = output.waiting(
          "Deleting the project",
          answered(api.client.api.projects.delete({ params, ...withBody }))
        )
        yield* followDeletion(api, deletion, { timeout, wait })
      })
    )
).pipe(
  Command.withDescription("Delete a project and everything in it"),
  Command.withExamples([
    { command: "narthex project delete shop" },
    { command: "narthex project delete prj-… --yes --wait", description: "In a script; returns when its data is gone" }
  ])
)

export const project = Command.make("project").pipe(
  Command.withDescription("Projects"),
  Command.withSubcommands([list, create, get, overview, rename, remove])
)
