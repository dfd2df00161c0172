/**
 * Where the command line keeps its files: the configuration with the keys, and the cache, which may be deleted at any
 * time. `XDG_CONFIG_HOME` and `XDG_CACHE_HOME` count on every system. `bin/narthex.js` has the same rule for the cache.
 */
import { posix, win32 } from "node:path"

interface Machine {
  readonly home: string
  /** `process.platform`. */
  readonly platform: string
}

/** A variable of the environment; `undefined` if it is unset or empty. */
type Lookup = (name: string) => string | undefined

/** As with `git` and `gh`, macOS keeps configuration where Linux does. */
export const configFolder = (variable: Lookup, { home, platform }: Machine): string => {
  const own = variable("XDG_CONFIG_HOME")
  if (platform !== "win32") return posix.join(own ?? posix.join(home, ".config"), "narthex")
  return win32.join(own ?? variable("APPDATA") ?? win32.join(home, "AppData", "Roaming"), "narthex")
}

export const cacheFolder = (variable: Lookup, { home, platform }: Machine): string => {
  const own = variable("XDG_CACHE_HOME")
  if (platform === "win32")
    return win32.join(own ?? variable("LOCALAPPDATA") ?? win32.join(home, "AppData", "Local"), "narthex")
  return posix.join(own ?? posix.join(home, ...(platform === "darwin" ? ["Library", "Caches"] : [".cache"])), "narthex")
}
