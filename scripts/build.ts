/**
 * `npm run build`: builds every package into its `dist`, and the programs. Skips what is up to date.
 *
 *   --programs   builds only what runs: the command line and the programs of the server, each bundled
 */
import { spawnSync } from "node:child_process"

const run = (name: string, command: string, args: ReadonlyArray<string>) => {
  const { status } = spawnSync(command, args, { stdio: ["ignore", "inherit", "inherit"] })
  if (status === 0) return
  console.error(`build: ${name} failed`)
  process.exit(1)
}

if (!process.argv.includes("--programs")) run("types", "node_modules/.bin/tsc", ["-b", "tsconfig.build.json"])
run("command line", process.execPath, ["packages/cli/bundle.ts"])
run("server", process.execPath, ["packages/server/bundle.ts"])
