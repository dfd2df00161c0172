/**
 * Which credential a command uses, decided in this one place:
 *
 * `--context` > `NARTHEX_API_KEY` (or its `_FILE`) > `NARTHEX_CONTEXT` > the current context.
 *
 * Pitfall: letting `NARTHEX_URL` send a stored key to another server than the one that made it.
 */
import { type Redacted, Result } from "effect"
import { isSameServer } from "../connection/serverUrl.ts"
import { NotSignedIn } from "../failures.ts"
import { contextNamed, type StoredContext, type StoredContexts } from "./StoredContexts.ts"

export interface CredentialInputs {
  /** `--context`. */
  readonly flag: string | undefined
  readonly environment: { readonly variable: EnvironmentSource; readonly secret: Redacted.Redacted } | undefined
  /** `NARTHEX_CONTEXT`. */
  readonly variable: string | undefined
  readonly stored: StoredContexts
  /** `NARTHEX_URL`, when it is set. */
  readonly url: string | undefined
  readonly defaultUrl: string
}

export type EnvironmentSource = "NARTHEX_API_KEY" | "NARTHEX_API_KEY_FILE"

export type Credential =
  | {
      readonly _tag: "FromEnvironment"
      readonly variable: EnvironmentSource
      readonly secret: Redacted.Redacted
      readonly url: string
    }
  | {
      readonly _tag: "FromContext"
      readonly name: string
      readonly context: StoredContext
      readonly secret: Redacted.Redacted
      readonly url: string
    }

export const resolveCredential = (inputs: CredentialInputs): Result.Result<Credential, NotSignedIn> => {
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

const fromContext = (inputs: CredentialInputs, name: string): Result.Result<Credential, NotSignedIn> => {
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
          message: `The key of context "${name}" belongs to ${context.url}, and NARTHEX_URL names ${url}.`,
          hint: `unset NARTHEX_URL, or narthex login --context <another name>`
        })
      )
}

const signedOut = ({ stored }: CredentialInputs) =>
  Object.keys(stored.contexts).length === 0
    ? new NotSignedIn({ message: "You are not signed in.", hint: "narthex login, or set NARTHEX_API_KEY" })
    : new NotSignedIn({ message: "No context is current.", hint: "narthex context use <name>, or narthex login" })
