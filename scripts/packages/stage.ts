/** Lays out what a package publishes in a folder of its own, from its build. */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { isProgram, type Package, root } from "./Manifest.ts"
import { packedReadme } from "./packedReadme.ts"
import { publishedManifest } from "./publishedManifest.ts"

/** The files that the compiler makes of a module. */
const outputs = [".js", ".js.map", ".d.ts", ".d.ts.map"]

/** The folders of sources that a package publishes for its source maps. */
const sourceFolders = ({ manifest }: Package) => manifest.files.filter((name) => name === "src" || name === "testing")

/**
 * The files of a package's build, from its sources: what a deleted module left in `dist` is not published. A package
 * with several folders of sources has a folder in `dist` for each.
 */
export const builtFiles = (pack: Package): ReadonlyArray<string> => {
  const folders = sourceFolders(pack)
  return folders.flatMap((folder) =>
    globSync("**/*.{ts,tsx}", { cwd: join(pack.directory, folder) })
      .filter((module) => !module.endsWith(".d.ts"))
      .flatMap((module) => {
        const built = join("dist", ...(folders.length > 1 ? [folder] : []), module.replace(/\.tsx?$/, ""))
        return outputs.map((ending) => `${built}${ending}`)
      })
  )
}

/** Paths that a package publishes, below its folder. */
const publishedFiles = (pack: Package): ReadonlyArray<string> => [
  ...builtFiles(pack),
  ...pack.manifest.files
    .filter((pattern) => isProgram(pack) || pattern !== "dist")
    .flatMap((pattern) => globSync([pattern, `${pattern}/**/*`], { cwd: pack.directory }))
    .filter((file) => statSync(join(pack.directory, file)).isFile())
]

/** The README as it is published. */
export const readmeOf = (pack: Package, text: string, repository?: string): string =>
  packedReadme(text, `packages/${pack.folder}`, new Set(["README.md", "LICENSE", ...publishedFiles(pack)]), repository)

/**
 * Lays out what the package publishes in `directory`, which is emptied first. Throws, with the path, if the build has
 * not made a file.
 */
export const stage = (pack: Package, directory: string, repository?: string): void => {
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  for (const file of publishedFiles(pack)) {
    const from = join(pack.directory, file)
    if (!existsSync(from)) throw new Error(`${from} is not built. Run npm run build.`)
    mkdirSync(dirname(join(directory, file)), { recursive: true })
    cpSync(from, join(directory, file))
  }
  const readme = readFileSync(join(pack.directory, "README.md"), "utf8")
  writeFileSync(join(directory, "README.md"), readmeOf(pack, readme, repository))
  cpSync(join(root, "LICENSE"), join(directory, "LICENSE"))
  const manifest = publishedManifest(pack.manifest, pack.folder, repository)
  writeFileSync(join(directory, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`)
}
