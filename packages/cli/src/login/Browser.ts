/**
 * The console's URL, and the browser that opens its pages: `$BROWSER`, else the opener of the system.
 *
 * Failing to open a page is not an error, because the URL is printed first.
 */
import { spawn } from "node:child_process"
import type { NarthexClient } from "@narthex/api"
import { Context, Effect, Layer } from "effect"
import { Environment } from "../environment/Environment.ts"
import { readServerUrl } from "../environment/serverUrl.ts"
import { LoginEnded } from "../failures/LocalFailure.ts"
import { type Invocation, openers } from "./openers.ts"

/**
 * The console's origin: `NARTHEX_CONSOLE_URL`, else the one that the API returns. Only `http` and `https` are accepted,
 * because the opener would open a file, too.
 */
export const findConsole = Effect.fn("findConsole")(function* (client: NarthexClient["Service"]) {
  const { consoleUrl } = yield* Environment
  if (consoleUrl !== undefined) return yield* Effect.fromResult(readServerUrl(consoleUrl, "NARTHEX_CONSOLE_URL"))
  const { console_url } = yield* client.api.auth.providers()
  if (console_url === null)
    return yield* new LoginEnded({
      message: "This server has no console, so there is no page to open.",
      hint: "set NARTHEX_CONSOLE_URL, or narthex login --with-token < file"
    })
  return yield* Effect.fromResult(readServerUrl(console_url, "The console URL from the API"))
})

export class Browser extends Context.Service<
  Browser,
  {
    /** Returns whether an opener started. The page may still fail to appear. */
    readonly open: (url: string) => Effect.Effect<boolean>
    /** The user would not see a page that is opened here. */
    readonly isAway: boolean
  }
>()("@narthex/cli/login/Browser") {
  static readonly layer: Layer.Layer<Browser, never, Environment> = Layer.effect(
    Browser,
    Effect.map(Environment, ({ browser, hasDisplay, platform, remote }) =>
      Browser.of({
        isAway: browser === undefined && (remote || !hasDisplay),
        open: (url) => Effect.suspend(() => firstThatStarts(openers(browser, platform, url)))
      })
    )
  )
}

const firstThatStarts = (invocations: ReadonlyArray<Invocation>): Effect.Effect<boolean> => {
  const [next, ...others] = invocations
  if (next === undefined) return Effect.succeed(false)
  return Effect.flatMap(starts(next), (started) => (started ? Effect.succeed(true) : firstThatStarts(others)))
}

const starts = ([command, ...args]: Invocation): Effect.Effect<boolean> =>
  Effect.callback<boolean>((resume) => {
    const child = spawn(command, args, { detached: true, stdio: "ignore" })
    child.once("spawn", () => {
      child.unref()
      resume(Effect.succeed(true))
    })
    child.once("error", () => resume(Effect.succeed(false)))
  })
