/**
 * Calls that need a person's session (docs/design/cli.md C27). The command line sends them like any other call, because
 * `NARTHEX_API_KEY` may be a session token. A key is refused, and then the command names the console's page.
 */
import { SessionRequiredProblem } from "@narthex/api"
import { Effect } from "effect"
import { Flag } from "effect/cli"
import type { AuthenticatedApi } from "../connection/Connection.ts"
import { NeedsSession, Stopped } from "../failures/LocalFailure.ts"
import { Output } from "../output/Output.ts"
import { Browser, findConsole } from "./Browser.ts"

export const openFlag = Flag.Boolean("open").pipe(
  Flag.withoutNegation,
  Flag.withDescription("If an API key may not do this, open the console's page for it"),
  Flag.withDefault(false)
)

const isSessionRequired = (failure: unknown): failure is SessionRequiredProblem =>
  failure instanceof SessionRequiredProblem

export interface ConsolePage {
  /** The path of the page, for the organization of the key. */
  readonly path: (org_id: string) => string
  /** The action that the key may not take, as the subject of a sentence. */
  readonly what: string
  readonly open: boolean
}

/** Makes the call. If it needs a session, it opens the page with `--open`, or fails with its address. */
export const orInConsole = <A, E, R>(api: AuthenticatedApi, call: Effect.Effect<A, E, R>, page: ConsolePage) =>
  Effect.catchIf(call, isSessionRequired, (problem) => showPage(api, page, problem))

/** Opens the page with `--open`, and otherwise fails with its address. */
export const showPage = Effect.fn("showPage")(function* (
  { client }: AuthenticatedApi,
  page: ConsolePage,
  /** The refusal that led here. */
  problem?: unknown
) {
  const output = yield* Output
  const { organization } = yield* client.api.auth.whoami()
  const url = `${yield* findConsole(client)}${page.path(encodeURIComponent(organization.id))}`
  const message = `${page.what} needs a person's session, and an API key has none.`
  const hint = `do it in the console: ${url} (--open opens it)`
  if (!page.open)
    return yield* isSessionRequired(problem)
      ? new NeedsSession({ message, hint, problem })
      : new Stopped({ message, hint })
  yield* output.note(message)
  yield* output.text(url)
  if (!(yield* (yield* Browser).open(url))) yield* output.note("No browser could be opened. Open the URL yourself.")
  return undefined
})
