/**
 * Makes the command line one file without dependencies: `dist/narthex.js`. Run by node from anywhere:
 * `node packages/cli/bundle.ts`.
 */
import { chmodSync } from "node:fs"
import { join } from "node:path"
import { build } from "rolldown"

const folder = import.meta.dirname
const file = join(folder, "dist", "narthex.js")

await build({
  input: join(folder, "src", "main.ts"),
  cwd: folder,
  platform: "node",
  tsconfig: false,
  resolve: { conditionNames: ["source", "import", "node", "default"] },
  output: {
    file,
    format: "esm",
    codeSplitting: false,
    minify: true,
    banner: "#!/usr/bin/env node"
  },
  logLevel: "warn"
})
chmodSync(file, 0o755)
