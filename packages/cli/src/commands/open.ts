/** `narthex open [project]`: opens the console's page of a project, or of the organization. */
import type { ProjectId } from "@narthex/api"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { type AuthenticatedApi, Connection } from "../connection/Connection.ts"
import { projectArgument } from "../input/flags.ts"
import { Browser, findConsole } from "../login/Browser.ts"
import { projectNamed } from "../names/projects.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { sentence } from "../output/table.ts"

/** Opens the page of a project, or without one that of the organization. */
export const openPage = Effect.fnUntraced(function* (api: AuthenticatedApi, project?: ProjectId | undefined) {
  const output = yield* Output
  const browser = yield* Browser
  const { organization } = yield* api.client.api.auth.whoami()
  const home = `${yield* findConsole(api.client)}/orgs/${encodeURIComponent(organization.id)}/projects`
  const url = project === undefined ? home : `${home}/${project}`
  yield* output.answer({ body: { url }, table: sentence(url) })
  if (browser.isAway || !(yield* browser.open(url)))
    yield* output.note("No browser could be opened. Open the URL yourself.")
})

/** For the commands that show what has a page. */
export const webFlag = Flag.Boolean("web").pipe(
  Flag.withoutNegation,
  Flag.withDescription("Open its page of the console instead, as narthex open does"),
  Flag.withDefault(false)
)

export const open = Command.make("open", { project: Argument.optional(projectArgument) }, ({ project }) =>
  reporting(
    Effect.gen(function* () {
      const api = yield* (yield* Connection).authenticated
      yield* openPage(api, Option.isNone(project) ? undefined : yield* projectNamed(api, { name: project.value }))
    })
  )
).pipe(
  Command.withDescription("Open the console, at the page of a project or of the organization"),
  Command.withExamples([{ command: "narthex open shop" }, { command: "narthex open" }])
)
