/** `narthex project list|create`. */
import type { ProjectRecord } from "@narthex/api"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { answered, everyPage, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { facts, instant, rows } from "../output/table.ts"

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

const row = (project: typeof ProjectRecord.Type) => [
  project.id,
  project.name,
  project.region_id,
  instant(project.created_at)
]

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(Argument.withDescription("The name of the project; it need not be unique")),
    region: Flag.String("region").pipe(
      Flag.withMetavar("region_id"),
      Flag.withDescription("The region of the project, which cannot change. Optional if only one region is active"),
      Flag.optional
    )
  },
  ({ name, region }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const { client } = yield* (yield* Connection).authenticated
        const payload = Option.match(region, { onNone: () => ({ name }), onSome: (region) => ({ name, region }) })
        const { body, value } = yield* output.waiting(
          "Creating the project",
          answered(client.api.projects.create({ payload, ...withBody }))
        )
        const { branch, endpoint, project } = value
        yield* output.answer({
          body,
          table: facts(
            ["project", project.id],
            ["name", project.name],
            ["region", project.region_id],
            ["branch", `${branch.name} (${branch.id})`],
            ["endpoint", endpoint.id],
            ["host", `${endpoint.host}:${endpoint.port}`]
          )
        })
      })
    )
).pipe(
  Command.withDescription("Create a project with its default branch and endpoint"),
  Command.withExamples([
    { command: "narthex project create shop" },
    { command: "narthex project create shop --region eu-central", description: "If several regions are active" }
  ])
)

export const project = Command.make("project").pipe(
  Command.withDescription("Projects"),
  Command.withSubcommands([list, create])
)
