#!/usr/bin/env node
// The executable of the package. It checks the version of Node and loads the bundle, dist/narthex.cjs, with Node's compile cache.
// `--version` alone is answered without the bundle.
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync } from "node:fs"
import module from "node:module"
import { homedir } from "node:os"
import { dirname, isAbsolute, join } from "node:path"

const bundle = new URL("../dist/narthex.cjs", import.meta.url)
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
const [first, ...others] = process.argv.slice(2)

const cacheFolder = () => {
  const { LOCALAPPDATA, XDG_CACHE_HOME } = process.env
  if (XDG_CACHE_HOME) return XDG_CACHE_HOME
  if (process.platform === "win32") return LOCALAPPDATA || join(homedir(), "AppData", "Local")
  return join(homedir(), ...(process.platform === "darwin" ? ["Library", "Caches"] : [".cache"]))
}

// Whether only this user and root can change what a real path leads to. In a folder with the sticky bit, others cannot
// replace what is not theirs. Windows has no such bits; its folders belong to their user.
const isSafe = (folder) => {
  const { mode, uid } = statSync(folder)
  if (process.getuid !== undefined && uid !== 0 && uid !== process.getuid()) return false
  if (process.getuid !== undefined && (mode & 0o022) !== 0 && (mode & 0o1000) === 0) return false
  return dirname(folder) === folder || isSafe(dirname(folder))
}

// The real path of a folder, which is made if it is missing.
const safe = (folder) => {
  if (!existsSync(folder)) {
    safe(dirname(folder))
    mkdirSync(folder, { mode: 0o700 })
  }
  const real = realpathSync(folder)
  if (!isSafe(real)) throw new Error(`${folder} can be changed by others.`)
  return real
}

// Pitfall: a folder that another user can write. The code in it is executed.
const enableCache = () => {
  try {
    const folder = join(cacheFolder(), "narthex", "code")
    if (isAbsolute(folder)) module.enableCompileCache(safe(folder))
  } catch {
    // Without a home directory, or on a read-only disk, each run compiles the bundle.
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
  enableCache()
  module.createRequire(import.meta.url)("../dist/narthex.cjs")
}
