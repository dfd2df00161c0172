/**
 * The programs of the documentation and the examples of docstrings, as files that `npm run check` type-checks together
 * with the sources. Each has to be whole: what it uses, it imports or declares.
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { documentedBlocks } from "./blocks.ts"

const root = join(import.meta.dirname, "../..")

/** Below the root of the checkout. The project of `tsconfig.json` has it. */
const folder = "test-results/programs"

/**
 * Not whole programs: one imports a file that a generator makes, and `examples/foreignClient.test.ts` checks its types;
 * the pages of examples quote their sources.
 */
const isPart = (page: string) => page === "docs/how-to/generate-a-client.md" || page.startsWith("examples/")

/** The examples of a module's docstrings, each with its line. */
export const examplesOf = (source: string): ReadonlyArray<readonly [line: number, program: string]> =>
  [...source.matchAll(/ \* @example\n((?: *\* .+\n)+)/g)].map(({ index, 0: whole, 1: text = "" }) => [
    source.slice(0, index + whole.length - text.length).split("\n").length,
    text.replaceAll(/^ *\* /gm, "")
  ])

/** file below `folder` → program */
export const typedPrograms = (): Readonly<Record<string, string>> => {
  const blocks = documentedBlocks.filter(({ language, page }) => language === "ts" && !isPart(page))
  const modules = globSync("packages/*/{src,testing}/**/*.ts", { cwd: root })
  return Object.fromEntries(
    [
      ...blocks.map(({ at, text }) => [at, text] as const),
      ...modules.flatMap((file) =>
        examplesOf(readFileSync(join(root, file), "utf8")).map(([line, text]) => [`${file}:${line}`, text] as const)
      )
    ].map(([at, text]) => [`${at.replaceAll(/[^\w.-]/g, "_")}.ts`, `// ${at}\n${text}export {}\n`])
  )
}

/** Writes the programs, and removes those of an earlier run. */
export const writeTypedPrograms = (): void => {
  rmSync(join(root, folder), { recursive: true, force: true })
  mkdirSync(join(root, folder), { recursive: true })
  for (const [file, text] of Object.entries(typedPrograms())) writeFileSync(join(root, folder, file), text)
}
