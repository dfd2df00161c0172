/**
 * `node packages/cli/bundle.ts`: bundles the command line without dependencies: `dist/narthex.cjs`, with
 * `dist/jq.cjs`, which `--jq` alone loads, and `dist/mcp.cjs`, which `narthex mcp` alone loads.
 *
 * Types are checked by `npm run check`, not here.
 */
import { join } from "node:path"
import { build, type Plugin } from "rolldown"

const source = import.meta.dirname

/**
 * Finds the modules that every command loads: those that the program imports, but not later, for one command alone.
 * Later imports of a library stay with the library.
 */
const loadedAlways = (program: string) => {
  const found = new Set([program])
  const plugin: Plugin = {
    name: "loaded-always",
    buildEnd() {
      for (const id of found) {
        const info = this.getModuleInfo(id)
        const later = id.includes("node_modules") ? info?.dynamicallyImportedIds : []
        for (const imported of [...(info?.importedIds ?? []), ...(later ?? [])]) found.add(imported)
      }
    }
  }
  return { plugin, has: (id: string) => found.has(id) }
}

/** Writes the bundle of a program to a folder, as `narthex.cjs`. */
export const bundle = async (folder: string, program = join(source, "src", "main.ts")): Promise<void> => {
  const always = loadedAlways(program)
  await build({
    plugins: [always.plugin],
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
      // `jq-wasm/inline` is jq.
      chunkFileNames: ({ name }) => (name === "inline" ? "jq.cjs" : "[name].cjs"),
      codeSplitting: {
        groups: [
          { name: "narthex", test: always.has, priority: 1 },
          { name: "mcp", test: /packages\/mcp\/src/ }
        ]
      },
      minify: true
    },
    logLevel: "warn"
  })
}

if (import.meta.main) await bundle(join(source, "dist"))
