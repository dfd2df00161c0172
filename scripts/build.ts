/**
 * `npm run build`: builds every package into its `dist`, and the programs. Skips what is up to date.
 *
 *   --programs   builds only what runs: the command line and the programs of the server, each bundled
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { Programs } from "./programs.ts"

const fail = (why: string): never => {
  console.error(`build: ${why}`)
  process.exit(1)
}

if (!process.argv.includes("--programs")) {
  const { status } = spawnSync("node_modules/.bin/tsc", ["-b", "tsconfig.build.json"], { stdio: "inherit" })
  if (status !== 0) fail("types failed")
}

const programs = new Programs(join(import.meta.dirname, ".."))
if (!programs.areUpToDate()) {
  console.error("Building the programs …")
  await programs.build().catch((error: Error) => fail(error.message))
}
