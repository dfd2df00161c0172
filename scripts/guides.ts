/**
 * `node scripts/guides.ts`: renders the pages of `docs/guides`, which the server serves under `/docs/guides`, as a module
 * that is not committed, and the files of their pages as another: the script, and font and icon of the console. Set-up and the tests do it too. An unchanged module is
 * not written, so that nothing is built again.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs"
import { basename, resolve } from "node:path"
import { Marked } from "marked"
import { codeBlock, escaped } from "../packages/http/src/docs/html.ts"

const root = resolve(import.meta.dirname, "..")
const served = resolve(root, "packages/http/src/docs")
const consoleAssets = resolve(root, "packages/console/assets")

/** The label of a code block, by its language. */
const labels: Readonly<Record<string, string>> = {
  sh: "Shell",
  console: "Shell",
  ts: "TypeScript",
  js: "JavaScript",
  python: "Python",
  json: "JSON",
  yaml: "YAML",
  http: "HTTP"
}

/** The anchor of a heading, as on GitHub. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-")

/** Where a link leads from a page that is served; `undefined`: the page of the repository is not. */
const servedAt = (target: string): string | undefined =>
  /^https:\/\/|^#|^[\w-]+\.md(#|$)|^\.\.\/problems\.md(#|$)/.test(target)
    ? target.replace(/(?<!^https:.*)\.md(?=#|$)/, "")
    : target === "../openapi.json"
      ? "../../openapi.json"
      : undefined

const marked = new Marked({
  renderer: {
    code: ({ lang = "", text }) => codeBlock(text, labels[lang] ?? "Code"),
    heading({ depth, text, tokens }) {
      return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
    link({ href, tokens }) {
      const [at, label] = [servedAt(href), this.parser.parseInline(tokens)]
      return at === undefined ? label : `<a href="${escaped(at)}">${label}</a>`
    },
    // The text of this repository has no HTML.
    html: ({ text }) => escaped(text)
  },
  hooks: {
    postprocess: (html) =>
      html
        .replaceAll("<table>", `<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>`)
        .replaceAll("</table>", "</table></div>")
  }
})

const guideOf = (page: string) => {
  const markdown = readFileSync(resolve(root, page), "utf8")
  const [, title = "", summary = ""] = /^# (.+)\n\n((?:.+\n)+)/.exec(markdown) ?? []
  return [
    basename(page, ".md"),
    { title, summary: marked.parseInline(summary.trim()), html: marked.parse(markdown) }
  ] as const
}

/** Writes a module of `packages/http/src/docs` with one value, if it has changed. */
const writeModule = (name: string, value: unknown) => {
  const file = resolve(served, `${name}.generated.ts`)
  const text = `/** Made by scripts/guides.ts. */\nexport const ${name} = ${JSON.stringify(value)}\n`
  if (existsSync(file) && readFileSync(file, "utf8") === text) return
  writeFileSync(file, text)
}

/** Renders the guides, and reads the files that their pages need. */
export const renderGuides = (): void => {
  writeModule("guides", Object.fromEntries(globSync("docs/guides/*.md", { cwd: root }).toSorted().map(guideOf)))
  writeModule("assets", {
    font: readFileSync(resolve(consoleAssets, "inter.woff2"), "base64"),
    icon: readFileSync(resolve(consoleAssets, "icon.svg"), "utf8"),
    script: readFileSync(resolve(root, "packages/http/assets/search.js"), "utf8")
  })
}

if (import.meta.main) renderGuides()
