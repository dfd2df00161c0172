/** `narthex context set-project`: the default project of the context in use (docs/design/cli.md C22). */
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { Connection } from "../connection/Connection.ts"
import { ContextFile } from "../contexts/ContextFile.ts"
import { withProject } from "../contexts/StoredContexts.ts"
import { Stopped } from "../failures/LocalFailure.ts"
import { projectArgument } from "../input/flags.ts"
import { projectNamed } from "../names/projects.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { printable, sentence } from "../output/table.ts"

export const setProject = Command.make("set-project", { project: Argument.optional(projectArgument) }, ({ project }) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const file = yield* ContextFile
      const api = yield* (yield* Connection).authenticated
      const { bearer } = api
      if (bearer._tag === "FromEnvironment")
        return yield* new Stopped({
          message: `${bearer.variable} is set, so no context is in use.`,
          hint: "set NARTHEX_PROJECT, or unset the credential"
        })
      if (Option.isNone(project)) {
        yield* file.change((stored) => withProject(stored, bearer.name, undefined))
        return yield* output.answer({
          body: { context: bearer.name, project: null },
          table: sentence(`Context "${bearer.name}" has no default project.`)
        })
      }
      const project_id = yield* projectNamed(api, { name: project.value })
      const read = yield* api.client.api.projects.get({ params: { project_id } })
      const chosen = { id: read.project.id, name: read.project.name }
      yield* file.change((stored) => withProject(stored, bearer.name, chosen))
      yield* output.answer({
        body: { context: bearer.name, project: chosen },
        table: sentence(`The default project of context "${bearer.name}" is ${printable(chosen.name)} (${chosen.id}).`)
      })
    })
  )
).pipe(
  Command.withDescription("Set the default project of the context in use; without a name, remove it"),
  Command.withExamples([{ command: "narthex context set-project shop" }])
)
