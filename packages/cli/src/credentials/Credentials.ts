/** The credential of this run: gathers what `resolveCredential` decides on. */
import { readFileSync } from "node:fs"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { Flag, GlobalFlag } from "effect/cli"
import { readServerUrl } from "../connection/serverUrl.ts"
import { Environment } from "../Environment.ts"
import { defaultUrl } from "../environmentTable.ts"
import { type CredentialsUnusable, type NotSignedIn, UsageMistake } from "../failures.ts"
import { CredentialsFile } from "./CredentialsFile.ts"
import { type Credential, type CredentialInputs, resolveCredential } from "./resolveCredential.ts"
import { isContextName, noContexts } from "./StoredContexts.ts"

export const ContextFlag = GlobalFlag.Setting("context")({
  flag: Flag.String("context").pipe(
    Flag.withDescription("The stored context to use; login stores its key under this name"),
    Flag.withMetavar("name"),
    Flag.filter(isContextName, () => "Expected 1 to 64 letters, digits, dots, underscores and hyphens"),
    Flag.optional
  )
})

export type NeedsContext = GlobalFlag.Setting.Identifier<"context">

export class Credentials extends Context.Service<
  Credentials,
  {
    readonly resolve: Effect.Effect<Credential, NotSignedIn | UsageMistake | CredentialsUnusable, NeedsContext>
    /** The server that nobody's key decides: `NARTHEX_URL` or the default. */
    readonly chosenUrl: Effect.Effect<string, UsageMistake>
  }
>()("@narthex/cli/credentials/Credentials") {
  static readonly layer: Layer.Layer<Credentials, never, Environment | CredentialsFile> = Layer.effect(
    Credentials,
    Effect.gen(function* () {
      const environment = yield* Environment
      const file = yield* CredentialsFile
      const explicitUrl =
        environment.url === undefined
          ? Effect.undefined
          : Effect.fromResult(readServerUrl(environment.url, "NARTHEX_URL"))

      return Credentials.of({
        chosenUrl: Effect.map(explicitUrl, (url) => url ?? defaultUrl),
        resolve: Effect.gen(function* () {
          const flag = Option.getOrUndefined(yield* ContextFlag)
          const fromEnvironment = flag === undefined ? yield* environmentCredential(environment) : undefined
          // A credential from the environment must work where there is no home directory, or a broken file in it.
          const stored = fromEnvironment === undefined ? yield* file.read : noContexts
          return yield* Effect.fromResult(
            resolveCredential({
              flag,
              environment: fromEnvironment,
              variable: environment.context,
              stored,
              url: yield* explicitUrl,
              defaultUrl
            })
          )
        })
      })
    })
  )
}

const environmentCredential = Effect.fnUntraced(function* ({ apiKey, apiKeyFile }: Environment["Service"]) {
  if (apiKey !== undefined) return yield* sendable("NARTHEX_API_KEY", apiKey)
  if (apiKeyFile === undefined) return undefined
  const text = yield* Effect.try({
    try: () => readFileSync(apiKeyFile, "utf8").trim(),
    catch: () => new UsageMistake({ message: `NARTHEX_API_KEY_FILE names ${apiKeyFile}, which cannot be read.` })
  })
  return yield* sendable("NARTHEX_API_KEY_FILE", Redacted.make(text, { label: "NARTHEX_API_KEY_FILE" }))
})

/** A credential that no header can carry would fail in a way that prints it. */
const sendable = (
  variable: NonNullable<CredentialInputs["environment"]>["variable"],
  secret: Redacted.Redacted
): Effect.Effect<CredentialInputs["environment"], UsageMistake> =>
  /^[\x21-\x7e]+$/.test(Redacted.value(secret))
    ? Effect.succeed({ variable, secret })
    : Effect.fail(
        new UsageMistake({ message: `${variable} does not hold a credential.`, hint: "a key begins with nsk_" })
      )
