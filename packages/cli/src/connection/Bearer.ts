/**
 * The bearer credential of a run (an API key or a session token), and the server that receives it.
 *
 * Precedence (docs/design/cli.md C8): `--context`, `NARTHEX_API_KEY`, `NARTHEX_API_KEY_FILE`, `NARTHEX_CONTEXT`, the
 * current context.
 *
 * Pitfall: sending a stored key to the server in `NARTHEX_URL`. Only the server that issued a key may receive it.
 */
import { readFileSync } from "node:fs"
import { Effect, Option, Redacted, Result } from "effect"
import type { ContextFile } from "../contexts/ContextFile.ts"
import { ContextFlag } from "../contexts/ContextFlag.ts"
import { contextNamed, noContexts, type StoredContext, type StoredContexts } from "../contexts/StoredContexts.ts"
import type { Environment } from "../environment/Environment.ts"
import { defaultUrl } from "../environment/environmentTable.ts"
import { isSameServer, readServerUrl } from "../environment/serverUrl.ts"
import { NotSignedIn, UsageMistake } from "../failures/LocalFailure.ts"

type BearerVariable = "NARTHEX_API_KEY" | "NARTHEX_API_KEY_FILE"

interface BearerFromVariable {
  readonly variable: BearerVariable
  readonly secret: Redacted.Redacted
}

export interface BearerInputs {
  /** `--context`. */
  readonly flag: string | undefined
  readonly environment: BearerFromVariable | undefined
  /** `NARTHEX_CONTEXT`. */
  readonly variable: string | undefined
  readonly stored: StoredContexts
  /** `NARTHEX_URL`, if it is set. */
  readonly url: string | undefined
  readonly defaultUrl: string
}

export type Bearer =
  | (BearerFromVariable & { readonly _tag: "FromEnvironment"; readonly url: string })
  | {
      readonly _tag: "FromContext"
      readonly name: string
      readonly context: StoredContext
      readonly secret: Redacted.Redacted
      readonly url: string
    }

/** Reads the inputs of `chooseBearer` and applies it. */
export const readBearer = Effect.fn("readBearer")(function* (
  environment: Environment["Service"],
  file: ContextFile["Service"]
) {
  const flag = Option.getOrUndefined(yield* ContextFlag)
  const fromVariable = flag === undefined ? yield* bearerFromVariable(environment) : undefined
  // A credential from the environment must work without a home directory and with an unusable credentials file.
  const stored = fromVariable === undefined ? yield* file.read : noContexts
  const url =
    environment.url === undefined ? undefined : yield* Effect.fromResult(readServerUrl(environment.url, "NARTHEX_URL"))
  return yield* Effect.fromResult(
    chooseBearer({ flag, environment: fromVariable, variable: environment.context, stored, url, defaultUrl })
  )
})

export const chooseBearer = (inputs: BearerInputs): Result.Result<Bearer, NotSignedIn> => {
  if (inputs.flag !== undefined) return fromContext(inputs, inputs.flag)
  if (inputs.environment !== undefined)
    return Result.succeed({
      _tag: "FromEnvironment",
      ...inputs.environment,
      url: inputs.url ?? inputs.defaultUrl
    })
  const name = inputs.variable ?? inputs.stored.current
  return name === null ? Result.fail(signedOut(inputs)) : fromContext(inputs, name)
}

const fromContext = (inputs: BearerInputs, name: string): Result.Result<Bearer, NotSignedIn> => {
  const context = contextNamed(inputs.stored, name)
  if (context === undefined)
    return Result.fail(
      new NotSignedIn({
        message: `There is no context "${name}".`,
        hint: `narthex login --context ${name}, or narthex context list`
      })
    )
  const url = inputs.url ?? context.url
  return isSameServer(context.url, url)
    ? Result.succeed({ _tag: "FromContext", name, context, secret: context.secret, url })
    : Result.fail(
        new NotSignedIn({
          message: `The key of context "${name}" belongs to ${context.url}, but NARTHEX_URL is ${url}.`,
          hint: `unset NARTHEX_URL, or narthex login --context <another name>`
        })
      )
}

const signedOut = ({ stored }: BearerInputs) =>
  Object.keys(stored.contexts).length === 0
    ? new NotSignedIn({ message: "You are not signed in.", hint: "narthex login, or set NARTHEX_API_KEY" })
    : new NotSignedIn({ message: "There is no current context.", hint: "narthex context use <name>, or narthex login" })

const bearerFromVariable = Effect.fnUntraced(function* ({ apiKey, apiKeyFile }: Environment["Service"]) {
  if (apiKey !== undefined) return yield* sendable("NARTHEX_API_KEY", apiKey)
  if (apiKeyFile === undefined) return undefined
  const text = yield* Effect.try({
    try: () => readFileSync(apiKeyFile, "utf8").trim(),
    catch: () => new UsageMistake({ message: `The file ${apiKeyFile} of NARTHEX_API_KEY_FILE cannot be read.` })
  })
  return yield* sendable("NARTHEX_API_KEY_FILE", Redacted.make(text, { label: "NARTHEX_API_KEY_FILE" }))
})

/** Refuses characters that a header cannot contain, because the error of the HTTP client would print the secret. */
const sendable = (
  variable: BearerVariable,
  secret: Redacted.Redacted
): Effect.Effect<BearerFromVariable, UsageMistake> => {
  if (/^(["']).*\1$/s.test(Redacted.value(secret)))
    return Effect.fail(
      new UsageMistake({
        message: `${variable} begins and ends with a quotation mark, which no credential does.`,
        hint: "remove the quotation marks: docker --env-file, for example, keeps them"
      })
    )
  return /^[\x21-\x7e]+$/.test(Redacted.value(secret))
    ? Effect.succeed({ variable, secret })
    : Effect.fail(
        new UsageMistake({ message: `${variable} is not a valid credential.`, hint: "an API key begins with nsk_" })
      )
}
