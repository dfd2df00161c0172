/** The browser and the system of a `User-Agent`, in words: "Firefox on Linux". */

const browsers: ReadonlyArray<readonly [pattern: RegExp, name: string]> = [
  [/\bEdgA?\//, "Edge"],
  [/\b(OPR|Opera)\//, "Opera"],
  [/\b(Firefox|FxiOS)\//, "Firefox"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(HeadlessChrome|Chrome|CriOS|Chromium)\//, "Chrome"],
  [/\bSafari\//, "Safari"]
]

const systems: ReadonlyArray<readonly [pattern: RegExp, name: string]> = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"]
]

const nameIn = (agent: string, names: ReadonlyArray<readonly [RegExp, string]>) =>
  names.find(([pattern]) => pattern.test(agent))?.[1]

const longest = 40

/** Text without a known browser comes from another program and is returned as it was sent, cut to 40 characters. */
export const deviceWords = (agent: string | null): string => {
  if (agent === null || agent.trim() === "") return "Unknown device"
  const browser = nameIn(agent, browsers)
  const system = nameIn(agent, systems)
  if (browser === undefined) return agent.length > longest ? `${agent.slice(0, longest - 1)}…` : agent
  return system === undefined ? browser : `${browser} on ${system}`
}
