/**
 * `npm run check`: Node version, types with Effect's diagnostics, format, lint, and the packages as they are published:
 * publint, arethetypeswrong, and the types of a consumer. The types include those of every program in the
 * documentation and in docstrings. Every step runs; one verdict follows.
 */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { writeTypedPrograms } from "./pages/typedPrograms.ts"

const pinned = /^v2[46]\./
if (!pinned.test(process.version)) {
  console.error(`Node ${process.version} is not the pinned runtime. Run \`npm run setup\`, then \`npm run check\`.`)
  process.exit(1)
}

// tsgo is TypeScript 7 with Effect's diagnostics. It exists for Linux on x64 only; other machines use plain tsc.
const tsgo = "node_modules/@effect/tsgo-linux-x64/lib/tsc"
const steps: ReadonlyArray<readonly [name: string, command: string, args: ReadonlyArray<string>]> = [
  ["types", existsSync(tsgo) ? tsgo : "node_modules/.bin/tsc", ["-p", "tsconfig.json"]],
  ["format and lint", "node_modules/.bin/biome", ["check", "--error-on-warnings", "."]],
  ["packages", process.execPath, ["scripts/test.ts", "--packed", "test/packages/tarballs.test.ts"]]
]

writeTypedPrograms()
const failed = steps.filter(([name, command, args]) => {
  console.log(`check: ${name}`)
  return spawnSync(command, args, { stdio: "inherit" }).status !== 0
})
console.log(failed.length === 0 ? "check: all good" : `check: failed: ${failed.map(([name]) => name).join(", ")}`)
process.exit(failed.length === 0 ? 0 : 1)
