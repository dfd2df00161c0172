#!/usr/bin/env node
// The executable of the package. It checks the version of Node and loads the bundle, dist/narthex.cjs, with the code that is kept
// of an earlier run. `--version` alone is answered without it.
import module from "node:module"
import { homedir } from "node:os"
import { join } from "node:path"

const require = module.createRequire(import.meta.url)

// Pitfall: importing node:fs. The import reads all its exports, and some of them load streams and promises.
const { existsSync, readFileSync } = require("node:fs")

const bundle = new URL("../dist/narthex.cjs", import.meta.url)
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
const [first, ...others] = process.argv.slice(2)

// Pitfall: a folder that the users of a machine share. What it holds is executed.
const cacheFolder = () => {
  const { LOCALAPPDATA, XDG_CACHE_HOME } = process.env
  if (XDG_CACHE_HOME) return join(XDG_CACHE_HOME, "narthex")
  try {
    if (process.platform === "win32") return join(LOCALAPPDATA || join(homedir(), "AppData", "Local"), "narthex")
    return join(homedir(), ...(process.platform === "darwin" ? ["Library", "Caches"] : [".cache"]), "narthex")
  } catch {
    return undefined // The user has no home directory, as in some containers.
  }
}

if (major < 22 || (major === 22 && minor < 19)) {
  console.error(`narthex needs Node 22.19 or newer; this is ${process.version}.`)
  process.exitCode = 1
} else if (!existsSync(bundle)) {
  console.error("narthex is not built yet. Build it with: npm run build")
  process.exitCode = 1
} else if ((first === "--version" || first === "version") && others.length === 0) {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
  console.log(`narthex v${version}`)
} else {
  const cache = cacheFolder()
  const folder = cache === undefined ? undefined : join(cache, `code-${process.version}-${process.arch}`)
  // Pitfall: reading the stack of an error while the bundle loads, as Effect does. V8 then parses the whole file again.
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  require("./loadBundle.cjs").loadBundle(require.resolve("../dist/narthex.cjs"), folder)
  Error.stackTraceLimit = limit
}
