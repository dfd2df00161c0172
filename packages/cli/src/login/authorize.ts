/**
 * The loopback flow of a login (docs/design/identity.md I36–I38; RFC 8252, PKCE of RFC 7636). It returns a new key; the
 * caller stores it.
 *
 * 1. Listen on a loopback port. 2. Print the console's URL, then try to open it. 3. Wait for the callback, or for the
 * pasted redirect URL if the browser cannot reach the port. 4. Exchange the code for a key.
 *
 * State and verifier stay in memory; only the URL of step 2 contains the state, and only the request of step 4 the
 * verifier.
 */
import { createHash, randomBytes } from "node:crypto"
import { hostname } from "node:os"
import type { NarthexClient } from "@narthex/api"
import { Effect, Redacted, Stdio, Stream } from "effect"
import { Environment } from "../environment/Environment.ts"
import { LoginEnded } from "../failures/LocalFailure.ts"
import { Output } from "../output/Output.ts"
import { Browser } from "./Browser.ts"
import { readPasted } from "./callback.ts"
import { type LoginListener, listenForCallback } from "./LoginListener.ts"

interface AuthorizeOptions {
  readonly client: NarthexClient["Service"]
  /** The console's origin. */
  readonly console: string
  /** The name of the key. Default: `cli on <this machine>`. */
  readonly name: string | undefined
  /** Open no browser, and read the redirect URL from standard input. */
  readonly noBrowser: boolean
}

const loginLimit = "5 minutes"

export const authorize = Effect.fn("authorize")(function* (options: AuthorizeOptions) {
  const output = yield* Output
  const browser = yield* Browser
  const { remote } = yield* Environment
  const state = randomBytes(32).toString("base64url")
  const verifier = randomBytes(32).toString("base64url")

  const listener = yield* listenForCallback(state)
  const url = authorizeUrl(options, { state, verifier, redirect: listener.redirect })
  yield* output.note("Open this URL to authorize the command line:")
  yield* output.note(url)

  const reads = options.noBrowser || browser.isAway || remote
  if (!options.noBrowser && !browser.isAway && !(yield* browser.open(url)))
    yield* output.note("No browser could be opened. Open the URL yourself.")
  if (reads) yield* explainPasting(listener, remote)

  const wait = reads ? Effect.raceFirst(listener.callback, pasted(listener, state)) : listener.callback
  const callback = yield* output
    .waiting("Waiting for the browser", wait)
    .pipe(Effect.timeoutOrElse({ duration: loginLimit, orElse: () => tooLate }))
  if (callback._tag === "Refused")
    return yield* new LoginEnded({
      message:
        callback.error === "access_denied"
          ? "The login was cancelled in the browser."
          : `The console refused the login: ${callback.error}.`,
      hint: "narthex login"
    })

  return yield* options.client.api.cli.exchange({
    payload: {
      code: Redacted.make(callback.code),
      code_verifier: Redacted.make(verifier),
      redirect_uri: listener.redirect
    }
  })
})

interface Secrets {
  readonly state: string
  readonly verifier: string
  readonly redirect: string
}

const authorizeUrl = ({ console, name }: AuthorizeOptions, { redirect, state, verifier }: Secrets): string => {
  const query = new URLSearchParams({
    state,
    redirect_uri: redirect,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    name: name ?? defaultKeyName()
  })
  return `${console}/cli/authorize?${query}`
}

/** At most 64 characters, which is the API's limit for the name of a key. */
const defaultKeyName = (): string => [...`cli on ${hostname().replace(/\p{Cc}/gu, "")}`].slice(0, 64).join("").trim()

const explainPasting = Effect.fnUntraced(function* ({ port }: LoginListener, remote: boolean) {
  const output = yield* Output
  yield* output.note("If the browser cannot connect after you authorize, paste the URL from its address bar here.")
  if (remote)
    yield* output.note(`Or forward the port before you open the URL: ssh -L ${port}:127.0.0.1:${port} ${hostname()}`)
})

/** The first line of standard input that is the redirect URL. At the end of input it never returns. */
const pasted = Effect.fnUntraced(function* ({ redirect }: LoginListener, state: string) {
  const stdio = yield* Stdio.Stdio
  const output = yield* Output
  const found = yield* stdio.stdin.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.filter((line) => line.trim() !== ""),
    Stream.mapEffect((line) => {
      const callback = readPasted(line, redirect, state)
      return callback === undefined
        ? Effect.as(output.note(`This is not the expected URL, which begins with ${redirect}?`), undefined)
        : Effect.succeed(callback)
    }),
    Stream.filter((callback) => callback !== undefined),
    Stream.runHead,
    Effect.catch((error) => Effect.andThen(Effect.logDebug(error), Effect.succeedNone))
  )
  return found._tag === "Some" ? found.value : yield* Effect.never
})

const tooLate = Effect.fail(
  new LoginEnded({
    message: `The login was not authorized within ${loginLimit}.`,
    hint: "narthex login --no-browser if the browser is on another machine, or narthex login --with-token < file"
  })
)
