/**
 * The console's URL, and the browser that opens its pages: `$BROWSER`, else the opener of the system.
 *
 * Failing to open a page is no error, because the URL is printed first.
 *
 * Pitfall: opening the URL through a shell. The URL contains `&`.
 */
import { spawn } from "node:child_process"
import type { NarthexClient } from "@narthex/api"
import { Context, Effect, Layer } from "effect"
import { Environment } from "../environment/Environment.ts"
import { readServerUrl } from "../environment/serverUrl.ts"
import { LoginEnded } from "../failures/LocalFailure.ts"

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
    Effect.map(Environment, ({ browser, hasDisplay, remote }) =>
      Browser.of({
        isAway: browser === undefined && (remote || !hasDisplay),
        open: (url) => Effect.suspend(() => firstThatStarts(openers(browser, process.platform, url)))
      })
    )
  )
}

type Invocation = readonly [command: string, ...args: Array<string>]

/** The commands to try, in order. `$BROWSER` may list several; `%s` stands for the URL. */
const openers = (browser: string | undefined, platform: string, url: string): ReadonlyArray<Invocation> => {
  const own = (browser === undefined ? [] : browser.split(platform === "win32" ? ";" : ":")).flatMap((entry) => {
    const [command, ...args] = entry.trim().split(/\s+/)
    if (command === undefined || command === "") return []
    const placed = args.map((arg) => arg.replaceAll("%s", url))
    const invocation: Invocation = [command, ...placed, ...(entry.includes("%s") ? [] : [url])]
    return [invocation]
  })
  return [...own, systemOpener(platform, url)]
}

const systemOpener = (platform: string, url: string): Invocation => {
  if (platform === "darwin") return ["open", url]
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler", url]
  return ["xdg-open", url]
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
