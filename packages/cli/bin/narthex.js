#!/usr/bin/env node
// The executable of the package. It checks the version of Node and loads the bundle, dist/narthex.js.
import { existsSync } from "node:fs"

const bundle = new URL("../dist/narthex.js", import.meta.url)
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

if (major < 22 || (major === 22 && minor < 19)) {
  console.error(`narthex needs Node 22.19 or newer; this is ${process.version}.`)
  process.exitCode = 1
} else if (existsSync(bundle)) {
  await import(bundle.href)
} else {
  console.error("narthex is not built yet. Build it with: npm run build")
  process.exitCode = 1
}
