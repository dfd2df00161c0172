/**
 * `node packages/server/bundle.ts`: bundles the programs of the server into `dist`, with all that they need of this
 * repository and of Effect. Loading one file instead of a thousand makes their start four times as fast.
 *
 * Types are not checked here; `npm run check` does that.
 */
import { join } from "node:path"
import { build } from "rolldown"

const folder = import.meta.dirname
const source = (name: string) => join(folder, "src", `${name}.ts`)

/** Each program of `dist`, and the module that it is made from. */
const programs = {
  "narthex-platform": source("main"),
  "narthex-server": source("server"),
  "narthex-proxy": source("proxyServer")
}

/**
 * Bundles ES modules of this repository for Node: each of `input` becomes a file of `directory` by its name. The files
 * share chunks. Only packages that cannot be bundled, or that may be missing, are loaded from `node_modules`.
 */
export const bundle = async (input: Readonly<Record<string, string>>, directory: string): Promise<void> => {
  await build({
    input: { ...input },
    cwd: folder,
    platform: "node",
    tsconfig: false,
    transform: { jsx: { runtime: "automatic", importSource: "preact" } },
    resolve: { conditionNames: ["source", "import", "node", "default"] },
    external: ["oidc-provider"],
    output: {
      dir: directory,
      format: "esm",
      chunkFileNames: "narthex-[name].chunk.js",
      // Half of the text, which each start would read and keep.
      comments: { legal: true, annotation: false, jsdoc: false }
    },
    logLevel: "warn"
  })
}

if (import.meta.main) await bundle(programs, join(folder, "dist"))
