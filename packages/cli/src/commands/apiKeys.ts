/** `narthex api-key list|revoke|create`. A key cannot create keys, and can revoke only itself. */
import { parseApiKeyId } from "@narthex/api"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { everyPage, withBody } from "../connection/answers.ts"
import { type AuthenticatedApi, Connection } from "../connection/Connection.ts"
import { ContextFile } from "../contexts/ContextFile.ts"
import { withoutContext } from "../contexts/StoredContexts.ts"
import { Stopped, UsageMistake } from "../failures/LocalFailure.ts"
import { confirm } from "../input/confirm.ts"
import { yesFlag } from "../input/flags.ts"
import { Browser, findConsole } from "../login/Browser.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { instant, rows, scopeText } from "../output/table.ts"

const list = Command.make("list", {}, () =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const { client } = yield* (yield* Connection).authenticated
      const { body, value } = yield* output.waiting(
        "Listing keys",
        everyPage("api_keys", (query) => client.api.apiKeys.list({ query, ...withBody }))
      )
      yield* output.answer({
        body,
        table: rows(
          ["id", "name", "hint", "capability", "scope", "created", "last used", "expires"],
          ...value.map((key) => [
            key.id,
            key.name,
            key.hint,
            key.capability,
            scopeText(key.scope),
            instant(key.created_at),
            instant(key.last_used_at) ?? "never",
            instant(key.expires_at) ?? "never"
          ])
        ),
        empty: "There are no keys."
      })
    })
  )
).pipe(
  Command.withDescription("List the API keys that the credential can see"),
  Command.withExamples([{ command: "narthex api-key list" }])
)

const revoke = Command.make(
  "revoke",
  {
    id: Argument.String("id").pipe(
      Argument.withDescription("The id of the key, key-…"),
      Argument.filterMap(
        parseApiKeyId,
        () => "Expected a key id such as key-01hzx…; narthex api-key list shows the ids"
      ),
      Argument.optional
    ),
    self: Flag.Boolean("self").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Revoke the key that this command uses"),
      Flag.withDefault(false)
    ),
    yes: yesFlag
  },
  ({ id, self, yes }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        if (Option.isSome(id) === self)
          return yield* new UsageMistake({
            message: "Give either the id of a key or --self.",
            hint: "narthex api-key revoke --self"
          })
        const authenticated = yield* (yield* Connection).authenticated
        if (Option.isSome(id)) {
          const api_key_id = id.value
          yield* confirm(`The key ${api_key_id} will be revoked, which cannot be undone.`, yes)
          yield* output.waiting("Revoking the key", authenticated.client.api.apiKeys.revoke({ params: { api_key_id } }))
        } else yield* output.waiting("Revoking the key", authenticated.client.api.apiKeys.revokeSelf())
        yield* output.note("The key is revoked.")
        yield* dropIfOwn(authenticated, Option.getOrUndefined(id))
      })
    )
).pipe(
  Command.withDescription("Revoke an API key; a key can revoke only itself"),
  Command.withExamples([
    { command: "narthex api-key revoke --self", description: "Revoke the key in use, and delete its context" }
  ])
)

/** Removes the context of the key that was just revoked. */
const dropIfOwn = Effect.fnUntraced(function* ({ bearer }: AuthenticatedApi, id: string | undefined) {
  if (bearer._tag !== "FromContext" || (id !== undefined && id !== bearer.context.key.id)) return
  const output = yield* Output
  yield* (yield* ContextFile).change((stored) => withoutContext(stored, bearer.name))
  yield* output.note(`Context "${bearer.name}" is deleted, too.`)
})

const create = Command.make(
  "create",
  {
    open: Flag.Boolean("open").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Open the page in a browser"),
      Flag.withDefault(false)
    )
  },
  ({ open }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const { client } = yield* (yield* Connection).authenticated
        const { organization } = yield* client.api.auth.whoami()
        const page = `${yield* findConsole(client)}/orgs/${encodeURIComponent(organization.id)}/api-keys`
        const reason = "An API key cannot create another API key. Keys are created in the console."
        if (!open) return yield* new Stopped({ message: reason, hint: `${page}, or narthex api-key create --open` })
        yield* output.note(reason)
        yield* output.text(page)
        if (!(yield* (yield* Browser).open(page)))
          yield* output.note("No browser could be opened. Open the URL yourself.")
      })
    )
).pipe(
  Command.withDescription("Show the console page on which API keys are created"),
  Command.withExamples([{ command: "narthex api-key create --open" }])
)

export const apiKey = Command.make("api-key").pipe(
  Command.withDescription("API keys"),
  Command.withSubcommands([list, revoke, create])
)
