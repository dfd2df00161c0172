/**
 * Opens a web page: with `$BROWSER`, else with the system's opener. That it fails is no error, because the address was
 * printed before; no shell is involved, because the address holds `&`.
 */
import { spawn } from "node:child_process"
import { Context, Effect, Layer } from "effect"
import { Environment } from "../Environment.ts"

export class Browser extends Context.Service<
  Browser,
  {
    /** Did something take the address? It says nothing of a page being shown. */
    readonly open: (url: string) => Effect.Effect<boolean>
    /** Nothing can be opened here that the person would see. */
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

/** `$BROWSER` may name several commands, with `%s` where the address goes. */
export const openers = (browser: string | undefined, platform: string, url: string): ReadonlyArray<Invocation> => {
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
