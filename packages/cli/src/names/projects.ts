/**
 * The project of a command (docs/design/cli.md C21, C22). It is the first of: the argument or `--project`,
 * `NARTHEX_PROJECT`, the `.narthex` file, the project of the context.
 */
import { type ProjectId, parseProjectId } from "@narthex/api"
import { Effect, Option } from "effect"
import { withBody } from "../connection/answers.ts"
import type { AuthenticatedApi } from "../connection/Connection.ts"
import { Environment } from "../environment/Environment.ts"
import { UsageMistake } from "../failures/LocalFailure.ts"
import { findProjectFile } from "./ProjectFile.ts"
import { type Kind, objectsOf, resolve, type Wanted } from "./resolve.ts"

const projects: Kind = { one: "project", many: "projects", list: "narthex project list" }

export interface ChosenProject {
  readonly id: ProjectId
  /** The branch that the `.narthex` file names with this project. */
  readonly branch: Wanted | undefined
}

/** The project that the user gave, else the default. Only a name needs calls of the API. */
export const chooseProject = Effect.fn("chooseProject")(function* (
  api: AuthenticatedApi,
  given: Option.Option<string>
) {
  const { branch, ...wanted } = Option.isSome(given) ? only({ name: given.value }) : yield* defaultProject(api)
  return { id: yield* projectNamed(api, wanted), branch } satisfies ChosenProject
})

/** The id of the project with this id or name. */
export const projectNamed = Effect.fnUntraced(function* ({ client }: AuthenticatedApi, wanted: Wanted) {
  const id = parseProjectId(wanted.name)
  if (Option.isSome(id)) return id.value
  const listed = objectsOf(
    "projects",
    (query) => client.api.projects.list({ query, ...withBody }),
    (project) => ({ id: project.id, names: [project.name] })
  )
  return (yield* resolve(projects, wanted, yield* listed)).id
})

/** How a command that is shown names the project: its name, or its id if a shell would not take the name as one word. */
export const inShell = (name: string, id: ProjectId): string => (/^\w[\w.-]*$/.test(name) ? name : id)

type Default = Wanted & { readonly branch: Wanted | undefined }

const only = (wanted: Wanted): Default => ({ ...wanted, branch: undefined })

const defaultProject = Effect.fnUntraced(function* ({ bearer }: AuthenticatedApi) {
  const { project, workingFolder } = yield* Environment
  if (project !== undefined) return only({ name: project, from: "NARTHEX_PROJECT" })
  const file = yield* findProjectFile(workingFolder)
  if (file !== undefined) {
    const branch = file.branch === undefined ? undefined : { name: file.branch, from: file.path }
    return { name: file.project, from: file.path, branch }
  }
  if (bearer._tag === "FromContext" && bearer.context.project !== undefined)
    return only({ name: bearer.context.project.id, from: `context ${bearer.name}` })
  return yield* new UsageMistake({
    message: "No project is given.",
    hint: "--project <name or id>, or set a default: narthex context set-project <name>"
  })
})
