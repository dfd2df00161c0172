/** `narthex api-key list|revoke|create`. Keys are made by people in the console; a key can only end itself. */
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
  Command.withDescription("List API keys: those of the organization, or what the key may see of them"),
  Command.withExamples([{ command: "narthex api-key list" }])
)

const revoke = Command.make(
  "revoke",
  {
    id: Argument.String("id").pipe(
      Argument.withDescription("The key, key-…"),
      Argument.filterMap(parseApiKeyId, () => "Expected an id like key-01hzx…; narthex api-key list shows them"),
      Argument.optional
    ),
    self: Flag.Boolean("self").pipe(
      Flag.withoutNegation,
      Flag.withDescription("The key that this command uses"),
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
            message: "Name one key, or say --self.",
            hint: "narthex api-key revoke --self"
          })
        const authenticated = yield* (yield* Connection).authenticated
        if (Option.isSome(id)) {
          const api_key_id = id.value
          yield* confirm(`The key ${api_key_id} will stop working for good.`, yes)
          yield* output.waiting("Revoking the key", authenticated.client.api.apiKeys.revoke({ params: { api_key_id } }))
        } else yield* output.waiting("Revoking the key", authenticated.client.api.apiKeys.revokeSelf())
        yield* output.note("The key is revoked.")
        yield* dropIfOwn(authenticated, Option.getOrUndefined(id))
      })
    )
).pipe(
  Command.withDescription("Revoke an API key; a key can revoke only itself"),
  Command.withExamples([
    { command: "narthex api-key revoke --self", description: "The key in use; its context is deleted with it" }
  ])
)

/** The stored key that was just revoked is of no use any more. */
const dropIfOwn = Effect.fnUntraced(function* ({ bearer }: AuthenticatedApi, id: string | undefined) {
  if (bearer._tag !== "FromContext" || (id !== undefined && id !== bearer.context.key.id)) return
  const output = yield* Output
  yield* (yield* ContextFile).change((stored) => withoutContext(stored, bearer.name))
  yield* output.note(`Context "${bearer.name}" is deleted with it.`)
})

const create = Command.make(
  "create",
  {
    open: Flag.Boolean("open").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Open the console's page for it"),
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
        const reason = "A key cannot create a key: keys are made by a signed-in person, in the console."
        if (!open) return yield* new Stopped({ message: reason, hint: `${page}, or narthex api-key create --open` })
        yield* output.note(reason)
        yield* output.text(page)
        if (!(yield* (yield* Browser).open(page)))
          yield* output.note("No browser could be opened; open the address yourself.")
      })
    )
).pipe(
  Command.withDescription("Say where keys are created, and open that page"),
  Command.withExamples([{ command: "narthex api-key create --open" }])
)

export const apiKey = Command.make("api-key").pipe(
  Command.withDescription("API keys"),
  Command.withSubcommands([list, revoke, create])
)
