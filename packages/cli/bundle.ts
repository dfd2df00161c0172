/**
 * `node packages/cli/bundle.ts`: bundles the command line to one file without dependencies, `dist/narthex.js`.
 *
 * It does not check types; `npm run check` does.
 */
import { chmodSync } from "node:fs"
import { join } from "node:path"
import { build } from "rolldown"

const folder = import.meta.dirname

export const bundle = async (file: string): Promise<void> => {
  await build({
    input: join(folder, "src", "main.ts"),
    cwd: folder,
    platform: "node",
    tsconfig: false,
    resolve: { conditionNames: ["source", "import", "node", "default"] },
    output: { file, format: "esm", codeSplitting: false, minify: true, banner: "#!/usr/bin/env node" },
    logLevel: "warn"
  })
  chmodSync(file, 0o755)
}

if (import.meta.main) await bundle(join(folder, "dist", "narthex.js"))
