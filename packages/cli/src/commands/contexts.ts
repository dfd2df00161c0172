/** `narthex context list|use|remove`: the stored keys, one for each organization. Only `remove` calls the API. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { ContextFile } from "../contexts/ContextFile.ts"
import { contextArgument } from "../contexts/ContextFlag.ts"
import { contextNamed } from "../contexts/StoredContexts.ts"
import { Environment } from "../environment/Environment.ts"
import { NotSignedIn } from "../failures/LocalFailure.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { Instant, rows, sentence } from "../output/table.ts"
import { setProject } from "./contextProject.ts"
import { removeContext } from "./logout.ts"

const list = Command.make("list", {}, () =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const stored = yield* (yield* ContextFile).read
      const contexts = Object.entries(stored.contexts)
      yield* output.answer({
        body: {
          contexts: contexts.map(([name, { key, organization, project, url, user }]) => ({
            name,
            current: name === stored.current,
            url,
            organization,
            user,
            api_key: key,
            project: project ?? null
          }))
        },
        table: rows(
          ["current", "name", "organization", "project", "user", "api", "key", "expires"],
          ...contexts.map(([name, { key, organization, project, url, user }]) => [
            name === stored.current ? "*" : "",
            name,
            organization?.name,
            project?.name,
            user?.email,
            url,
            key.id,
            key.expires_at === null ? "never" : new Instant(key.expires_at)
          ])
        ),
        empty: "There are no contexts. Create one: narthex login"
      })
    })
  )
).pipe(Command.withDescription("List the stored contexts"), Command.withExamples([{ command: "narthex context list" }]))

/** Makes the context current, and warns about variables that take precedence. */
export const useContext = Effect.fn("useContext")(function* (name: string) {
  const file = yield* ContextFile
  const output = yield* Output
  const { apiKey, apiKeyFile, context: variable } = yield* Environment
  const context = contextNamed(yield* file.read, name)
  if (context === undefined)
    return yield* new NotSignedIn({
      message: `There is no context "${name}".`,
      hint: `narthex login --context ${name}, or narthex context list`
    })
  yield* file.change((stored) => ({ ...stored, current: name }))
  yield* output.answer({
    body: { context: name, url: context.url, organization: context.organization },
    table: sentence(`Context "${name}" is now current.`)
  })
  if (apiKey !== undefined || apiKeyFile !== undefined)
    yield* output.warn("NARTHEX_API_KEY or NARTHEX_API_KEY_FILE is set and takes precedence over the current context.")
  else if (variable !== undefined && variable !== name)
    yield* output.warn("NARTHEX_CONTEXT is set and takes precedence over the current context.")
})

const use = Command.make("use", { name: contextArgument }, ({ name }) => reporting(useContext(name))).pipe(
  Command.withDescription("Make a context the current one"),
  Command.withExamples([{ command: "narthex context use acme" }])
)

const remove = Command.make("remove", { name: contextArgument }, ({ name }) => reporting(removeContext(name))).pipe(
  Command.withDescription("Revoke a context's key and delete the context"),
  Command.withExamples([{ command: "narthex context remove acme" }])
)

export const context = Command.make("context").pipe(
  Command.withDescription("Stored keys, one for each organization"),
  Command.withSubcommands([list, use, remove, setProject])
)
