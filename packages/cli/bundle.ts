/**
 * `node packages/cli/bundle.ts`: bundles the command line without dependencies: `dist/narthex.cjs`, and `dist/jq.cjs`,
 * which `--jq` alone loads.
 *
 * Types are checked by `npm run check`, not here.
 */
import { join } from "node:path"
import { build } from "rolldown"

const source = import.meta.dirname

/** Writes the bundle of a program to a folder, as `narthex.cjs`. */
export const bundle = async (folder: string, program = join(source, "src", "main.ts")): Promise<void> => {
  await build({
    input: { narthex: program },
    cwd: source,
    platform: "node",
    tsconfig: false,
    transform: { define: { "import.meta": "{}" } },
    resolve: { conditionNames: ["source", "import", "node", "default"] },
    output: {
      dir: folder,
      // Pitfall: ES modules. Importing `node:http` reads all its exports, among them the client of `fetch`.
      format: "cjs",
      strict: true,
      entryFileNames: "[name].cjs",
      chunkFileNames: "[name].cjs",
      codeSplitting: { groups: [{ name: "jq", test: /jq-wasm/ }, { name: "narthex" }] },
      minify: true
    },
    logLevel: "warn"
  })
}

if (import.meta.main) await bundle(join(source, "dist"))
