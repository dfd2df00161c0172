/**
 * The commands that open a page in a browser, for each system.
 *
 * Pitfall: opening the URL through a shell. The URL contains `&`.
 */

export type Invocation = readonly [command: string, ...args: Array<string>]

/** The commands to try, in order. `$BROWSER` may list several; `%s` stands for the URL. */
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
