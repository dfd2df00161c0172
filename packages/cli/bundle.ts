/**
 * `node packages/cli/bundle.ts`: bundles the command line without dependencies: `dist/narthex.cjs`, and the parts that
 * it loads when a command needs them, in `dist/parts`.
 *
 * It does not check types; `npm run check` does.
 */
import { rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { build } from "rolldown"
import { deferredBuiltins } from "./bundle/deferredBuiltins.ts"
import { deferredModules } from "./bundle/deferredModules.ts"

const source = import.meta.dirname

/**
 * Modules that at least so many commands and groups of the contract use are in one file: each file that is loaded takes
 * time, and so does each module that is loaded and not used.
 */
const sharedBy = 8

/** Writes the bundle of a program to `file`, and its parts to the folder `parts` next to it. */
export const bundle = async (file: string, program = join(source, "src", "main.ts")): Promise<void> => {
  const folder = dirname(file)
  rmSync(join(folder, "parts"), { recursive: true, force: true })
  const { output } = await build({
    input: program,
    cwd: source,
    platform: "node",
    tsconfig: false,
    resolve: { conditionNames: ["source", "import", "node", "default"] },
    plugins: [deferredBuiltins, deferredModules],
    transform: { inject: { "Intl.Segmenter": [join(source, "bundle", "DeferredSegmenter.ts"), "DeferredSegmenter"] } },
    output: {
      dir: folder,
      // The digests are what kept code is found by (bin/loadBundle.cjs).
      entryFileNames: "parts/[name]-[hash].cjs",
      chunkFileNames: "parts/[name]-[hash].cjs",
      // Code can be kept of scripts, not of ES modules.
      format: "cjs",
      strict: true,
      codeSplitting: { groups: [{ name: "shared", minShareCount: sharedBy }] },
      minify: true
    },
    logLevel: "warn",
    // A name that a module does not have is a warning, and `undefined` at run time.
    onLog: (_level, log) => {
      if (log.code === "IMPORT_IS_UNDEFINED") throw new Error(log.message)
    }
  })
  const entry = output.find((part) => part.type === "chunk" && part.isEntry)
  writeFileSync(file, `require("./${entry?.fileName}")\n`)
}

if (import.meta.main) await bundle(join(source, "dist", "narthex.cjs"))
