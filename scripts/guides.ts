/**
 * `node scripts/guides.ts`: renders the pages of `docs/guides`, which the server serves under `/docs/guides`, as a module
 * that is not committed. Set-up and the tests do it too. An unchanged module is not written, so that nothing is built again.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { basename, resolve } from "node:path"
import { Marked } from "marked"
import { codeBlock, escaped } from "../packages/http/src/docs/html.ts"

const root = resolve(import.meta.dirname, "..")
const rendered = resolve(root, "packages/http/src/docs/guides.generated.ts")

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

/** Renders the guides, and writes them if they have changed. */
export const renderGuides = (): void => {
  const guides = Object.fromEntries(globSync("docs/guides/*.md", { cwd: root }).toSorted().map(guideOf))
  const text = `/** The guides, rendered by scripts/guides.ts. */\nexport const guides = ${JSON.stringify(guides)}\n`
  try {
    if (readFileSync(rendered, "utf8") === text) return
  } catch {
    // The file is missing in a fresh clone.
  }
  writeFileSync(rendered, text)
}

if (import.meta.main) renderGuides()
