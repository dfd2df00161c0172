/** `narthex open [project]`: opens the console's page of a project, or of the organization. */
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { Connection } from "../connection/Connection.ts"
import { projectArgument } from "../input/flags.ts"
import { Browser, findConsole } from "../login/Browser.ts"
import { projectNamed } from "../names/projects.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { sentence } from "../output/table.ts"

export const open = Command.make("open", { project: Argument.optional(projectArgument) }, ({ project }) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const browser = yield* Browser
      const api = yield* (yield* Connection).authenticated
      const { organization } = yield* api.client.api.auth.whoami()
      const home = `${yield* findConsole(api.client)}/orgs/${encodeURIComponent(organization.id)}/projects`
      const url = Option.isNone(project) ? home : `${home}/${yield* projectNamed(api, { name: project.value })}`
      yield* output.answer({ body: { url }, table: sentence(url) })
      if (browser.isAway || !(yield* browser.open(url)))
        yield* output.note("No browser could be opened. Open the URL yourself.")
    })
  )
).pipe(
  Command.withDescription("Open the console, at the page of a project or of the organization"),
  Command.withExamples([{ command: "narthex open shop" }, { command: "narthex open" }])
)
