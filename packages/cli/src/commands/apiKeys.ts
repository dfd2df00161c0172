/** `narthex api-key list|revoke`. A key can revoke only itself. `apiKeySecrets.ts` has the other commands. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { everyPage, withBody } from "../connection/answers.ts"
import { type AuthenticatedApi, Connection } from "../connection/Connection.ts"
import { ContextFile } from "../contexts/ContextFile.ts"
import { withoutContext } from "../contexts/StoredContexts.ts"
import { UsageMistake } from "../failures/LocalFailure.ts"
import { confirm } from "../input/confirm.ts"
import { pastedArgument, yesFlag } from "../input/flags.ts"
import { keyNamed } from "../names/members.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { instant, rows, scopeText } from "../output/table.ts"
import { apiKeySecrets } from "./apiKeySecrets.ts"

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
    key: pastedArgument("key").pipe(Argument.withDescription("The name or id of the key"), Argument.optional),
    self: Flag.Boolean("self").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Revoke the key that this command uses"),
      Flag.withDefault(false)
    ),
    yes: yesFlag
  },
  ({ key, self, yes }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        if (Option.isSome(key) === self)
          return yield* new UsageMistake({
            message: "Give either a key or --self.",
            hint: "narthex api-key revoke --self"
          })
        const authenticated = yield* (yield* Connection).authenticated
        const api_key_id = Option.isSome(key) ? yield* keyNamed(authenticated, key.value) : undefined
        if (api_key_id !== undefined) {
          yield* confirm(`The key ${api_key_id} will be revoked, which cannot be undone.`, yes)
          yield* output.waiting("Revoking the key", authenticated.client.api.apiKeys.revoke({ params: { api_key_id } }))
        } else yield* output.waiting("Revoking the key", authenticated.client.api.apiKeys.revokeSelf())
        yield* output.note("The key is revoked.")
        yield* dropIfOwn(authenticated, api_key_id)
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

export const apiKey = Command.make("api-key").pipe(
  Command.withDescription("API keys"),
  Command.withSubcommands([list, revoke, ...apiKeySecrets])
)
