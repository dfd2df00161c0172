/**
 * `narthex login` (docs/design/cli.md C2, C6, C7): a key for this machine, through the browser or from standard input.
 *
 * The user selects the organization of the key in the browser. Each organization has a context of its own.
 */
import { isKeySecret, resemblesKeySecret } from "@narthex/api"
import { DateTime, Effect, Option, Redacted, Stdio, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { answered, isRecord, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { ContextFile } from "../contexts/ContextFile.ts"
import { ContextFlag } from "../contexts/ContextFlag.ts"
import { contextNamed, isContextName, type StoredContext, withOrganization } from "../contexts/StoredContexts.ts"
import { Environment } from "../environment/Environment.ts"
import { defaultUrl } from "../environment/environmentTable.ts"
import { readServerUrl } from "../environment/serverUrl.ts"
import { LoginEnded, UsageMistake } from "../failures/LocalFailure.ts"
import { authorize } from "../login/authorize.ts"
import { findConsole } from "../login/Browser.ts"
import { storeKey } from "../login/storedKeys.ts"
import { noteInviter } from "../output/noteInviter.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { printable, sentence } from "../output/table.ts"

interface LoginOptions {
  readonly noBrowser: boolean
  readonly withToken: boolean
  readonly name: string | undefined
  /** The name of the context that stores the key. */
  readonly context: string | undefined
}

export const performLogin = Effect.fn("performLogin")(function* (options: LoginOptions) {
  const { apiKey, apiKeyFile, context: variable, url: chosen } = yield* Environment
  const file = yield* ContextFile
  const output = yield* Output

  const stored = yield* file.read
  const name = options.context ?? variable ?? stored.current ?? "default"
  if (!isContextName(name)) return yield* new UsageMistake({ message: "NARTHEX_CONTEXT is not a valid context name." })
  if (apiKey !== undefined || apiKeyFile !== undefined)
    yield* output.warn(
      `${apiKey === undefined ? "NARTHEX_API_KEY_FILE" : "NARTHEX_API_KEY"} is set and takes precedence over the key that this login stores.`
    )

  const home = contextNamed(stored, name)?.url
  const url =
    chosen === undefined ? (home ?? defaultUrl) : yield* Effect.fromResult(readServerUrl(chosen, "NARTHEX_URL"))
  const { body, who } = options.withToken
    ? yield* fromStandardInput(name, url)
    : yield* throughBrowser(name, url, options)

  yield* output.answer({
    body: { ...(isRecord(body) ? body : {}), context: name, api_url: url },
    table: sentence(
      `Signed in as ${printable(who.user.email ?? who.user.id)} in ${printable(who.organization.name)}; the key is stored as context "${name}".`
    )
  })
  yield* noteInviter(who)
})

/** Stores the key before any other step, so that a failure does not lose it. */
const throughBrowser = Effect.fnUntraced(function* (name: string, url: string, options: LoginOptions) {
  const connection = yield* Connection
  const file = yield* ContextFile
  const client = yield* connection.anonymous(url)
  const { api_key: key, secret } = yield* Effect.scoped(
    Effect.flatMap(findConsole(client), (console) =>
      authorize({ client, console, name: options.name, noBrowser: options.noBrowser })
    )
  )
  if (secret === null)
    return yield* new LoginEnded({ message: "The server returned a key without its secret.", hint: "narthex login" })
  const context: StoredContext = {
    url,
    secret,
    key: {
      id: key.id,
      name: key.name,
      expires_at: key.expires_at === null ? null : DateTime.formatIso(key.expires_at)
    },
    user: { id: key.created_by.id, email: key.created_by.email },
    organization: null
  }
  yield* storeKey(name, context)
  const { body, value: who } = yield* identify(url, secret)
  const organization = { id: who.organization.id, name: who.organization.name }
  yield* file.change((present) => withOrganization(present, name, key.id, organization))
  return { body, who }
})

const fromStandardInput = Effect.fnUntraced(function* (name: string, url: string) {
  const secret = yield* readSecret
  const { body, value: who } = yield* identify(url, secret)
  if (who.api_key === null)
    return yield* new UsageMistake({
      message: "The credential on standard input is not an API key.",
      hint: "create a key in the console"
    })
  yield* storeKey(name, {
    url,
    secret,
    key: {
      id: who.api_key.id,
      name: who.api_key.name,
      expires_at: who.api_key.expires_at === null ? null : DateTime.formatIso(who.api_key.expires_at)
    },
    user: { id: who.user.id, email: who.user.email },
    organization: { id: who.organization.id, name: who.organization.name }
  })
  return { body, who }
})

const identify = Effect.fnUntraced(function* (url: string, secret: Redacted.Redacted) {
  const connection = yield* Connection
  const client = yield* connection.withKey(url, secret)
  return yield* answered(client.api.auth.whoami({ ...withBody }))
})

const readSecret = Effect.gen(function* () {
  const { stdin } = yield* Stdio.Stdio
  const text = yield* stdin.pipe(
    Stream.decodeText(),
    Stream.mkString,
    Effect.mapError(() => new UsageMistake({ message: "Standard input cannot be read." }))
  )
  const secret = text.trim()
  if (!isKeySecret(secret) && resemblesKeySecret(secret))
    return yield* new UsageMistake({
      message: "The API key on standard input has a wrong checksum: it was changed or copied incompletely.",
      hint: "copy the key again from where it was shown; a key whose text is lost cannot be shown again, create another"
    })
  if (!isKeySecret(secret))
    return yield* new UsageMistake({
      message: "Standard input does not contain an API key.",
      hint: "narthex login --with-token < file; a key is nsk_ followed by 49 letters and digits"
    })
  return Redacted.make(secret, { label: "api key" })
})

export const login = Command.make(
  "login",
  {
    noBrowser: Flag.Boolean("no-browser").pipe(
      Flag.withoutNegation,
      Flag.withDescription(
        "Only print the URL, and read the URL that the browser is redirected to from standard input"
      ),
      Flag.withDefault(false)
    ),
    withToken: Flag.Boolean("with-token").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Read an API key from standard input, without a browser"),
      Flag.withDefault(false)
    ),
    name: Flag.String("name").pipe(
      Flag.withDescription("Name of the key. Default: cli on <this machine>"),
      Flag.filter(
        (text) => [...text.trim()].length > 0 && [...text.trim()].length <= 64,
        () => "Expected 1 to 64 characters"
      ),
      Flag.optional
    )
  },
  ({ name, noBrowser, withToken }) =>
    reporting(
      Effect.gen(function* () {
        const context = yield* ContextFlag
        yield* performLogin({
          noBrowser,
          withToken,
          name: Option.getOrUndefined(name),
          context: Option.getOrUndefined(context)
        })
      })
    )
).pipe(
  Command.withDescription("Sign in and store a key for this machine"),
  Command.withExamples([
    { command: "narthex login" },
    { command: "narthex login --context acme", description: "A second key, for another organization" },
    { command: "narthex login --with-token < key.txt", description: "Without a browser" }
  ])
)
