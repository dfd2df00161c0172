/**
 * `node scripts/guides.ts`: makes modules of the pages in `docs/guides`, which the server serves under `/docs/guides`.
 * `scripts/docs.ts` does it too; this program runs while a module is still missing.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { basename, resolve } from "node:path"

const root = resolve(import.meta.dirname, "..")

const moduleOf = (page: string): readonly [file: string, text: () => string] => {
  const name = basename(page, ".md").replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  const literal = () => readFileSync(resolve(root, page), "utf8").replace(/[\\`]|\$\{/g, "\\$&")
  return [
    `packages/http/src/docs/guides/${name}.ts`,
    () => `// Generated from ${page} by scripts/docs.ts: change it there.\nexport const ${name} = \`${literal()}\`\n`
  ]
}

/** file, from the root → what it must hold: the page `first-call` is `firstCall.ts`. */
export const guideModules: Readonly<Record<string, () => string>> = Object.fromEntries(
  globSync("docs/guides/*.md", { cwd: root }).toSorted().map(moduleOf)
)

if (import.meta.main)
  for (const [file, text] of Object.entries(guideModules)) writeFileSync(resolve(root, file), text())
