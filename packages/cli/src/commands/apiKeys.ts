/** `narthex api-key list|revoke|create`. Keys are made by people in the console; a key can only end itself. */
import { parseApiKeyId } from "@narthex/api"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Connection, type SignedIn } from "../connection/Connection.ts"
import { CredentialsFile } from "../credentials/CredentialsFile.ts"
import { withoutContext } from "../credentials/StoredContexts.ts"
import { Stopped, UsageMistake } from "../failures.ts"
import { Browser } from "../login/Browser.ts"
import { findConsole } from "../login/findConsole.ts"
import { Output } from "../output/Output.ts"
import { rows } from "../output/table.ts"
import { everyPage, instant, withBody } from "./answers.ts"
import { confirm, yesFlag } from "./confirm.ts"
import { reporting } from "./reporting.ts"
import { scopeText } from "./scopeText.ts"

const list = Command.make("list", {}, () =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const { client } = yield* (yield* Connection).signedIn
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
        const signedIn = yield* (yield* Connection).signedIn
        if (Option.isSome(id)) {
          const api_key_id = id.value
          yield* confirm(`The key ${api_key_id} will stop working for good.`, yes)
          yield* output.waiting("Revoking the key", signedIn.client.api.apiKeys.revoke({ params: { api_key_id } }))
        } else yield* output.waiting("Revoking the key", signedIn.client.api.apiKeys.revokeSelf())
        yield* output.note("The key is revoked.")
        yield* dropIfOwn(signedIn, Option.getOrUndefined(id))
      })
    )
).pipe(
  Command.withDescription("Revoke an API key; a key can revoke only itself"),
  Command.withExamples([
    { command: "narthex api-key revoke --self", description: "The key in use; its context is deleted with it" }
  ])
)

/** The stored key that was just revoked is of no use any more. */
const dropIfOwn = Effect.fnUntraced(function* ({ credential }: SignedIn, id: string | undefined) {
  if (credential._tag !== "FromContext" || (id !== undefined && id !== credential.context.key.id)) return
  const output = yield* Output
  yield* (yield* CredentialsFile).change((stored) => withoutContext(stored, credential.name))
  yield* output.note(`Context "${credential.name}" is deleted with it.`)
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
        const { client } = yield* (yield* Connection).signedIn
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
