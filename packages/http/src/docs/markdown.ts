/**
 * Markdown of the guides and of descriptions as HTML: headings, paragraphs, lists, tables, code, emphasis and links.
 *
 * It reads text of this repository only, and escapes all of it: there is no HTML in Markdown here.
 */

export const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

/** Where a link of the text leads; `undefined`: nowhere here, and the link becomes text. */
export type LinkOf = (target: string) => string | undefined

const linkOutside: LinkOf = (target) => (/^https:\/\//.test(target) ? target : undefined)

const emphasized = (text: string) => escaped(text).replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>")

const linked = (text: string, linkOf: LinkOf): string =>
  text
    .split(/(\[[^\]]+\]\([^)\s]+\))/)
    .map((part) => {
      const [, label, target] = /^\[([^\]]+)\]\(([^)\s]+)\)$/.exec(part) ?? []
      if (label === undefined || target === undefined) return emphasized(part)
      const href = linkOf(target)
      return href === undefined ? inline(label) : `<a href="${escaped(href)}">${inline(label)}</a>`
    })
    .join("")

/** Text of one line. */
export const inline = (text: string, linkOf: LinkOf = linkOutside): string =>
  text
    .split(/(\[[^\]]+\]\([^)\s]+\)|`[^`]+`)/)
    .map((part) => (/^`[^`]+`$/.test(part) ? `<code>${escaped(part.slice(1, -1))}</code>` : linked(part, linkOf)))
    .join("")

/** What a heading is linked by, as on GitHub. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-")

export const codeBlock = (code: string, label: string): string =>
  `<pre tabindex="0" aria-label="${escaped(label)}"><code>${escaped(code)}</code></pre>`

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

const cellsOf = (row: string) =>
  row
    .replace(/^\||\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"))

const table = (rows: ReadonlyArray<string>, linkOf: LinkOf): string => {
  const [head = "", , ...body] = rows
  const row = (text: string, tag: "th" | "td") =>
    `<tr>${cellsOf(text)
      .map((cell) => `<${tag}>${inline(cell, linkOf)}</${tag}>`)
      .join("")}</tr>`
  return `<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead>${row(head, "th")}</thead><tbody>${body.map((it) => row(it, "td")).join("")}</tbody></table></div>`
}

/** The blocks of a text: fences whole, everything else between empty lines. */
const blocksOf = (text: string): ReadonlyArray<string> =>
  text
    .split(/^(```[\s\S]*?^```)$/m)
    .flatMap((part) => (part.startsWith("```") ? [part] : part.split(/\n{2,}/)))
    .map((block) => block.replace(/^\n+|\s+$/g, ""))
    .filter((block) => block !== "")

const list = (block: string, tag: "ul" | "ol", linkOf: LinkOf) =>
  `<${tag}>${block
    .split(/^(?:- |\d+\. )/m)
    .slice(1)
    .map((item) => `<li>${inline(item.trim().replace(/\s*\n\s*/g, " "), linkOf)}</li>`)
    .join("")}</${tag}>`

const block = (text: string, linkOf: LinkOf): string => {
  const fence = /^```(\w*)\n([\s\S]*?)\n?```$/.exec(text)
  if (fence !== null) return codeBlock(fence[2] ?? "", labels[fence[1] ?? ""] ?? "Code")
  const heading = /^(#{1,4}) (.+)$/.exec(text)
  if (heading !== null) {
    const level = (heading[1] ?? "").length
    return `<h${level} id="${anchorOf(heading[2] ?? "")}">${inline(heading[2] ?? "", linkOf)}</h${level}>`
  }
  if (text.startsWith("|")) return table(text.split("\n"), linkOf)
  if (text.startsWith("- ")) return list(text, "ul", linkOf)
  if (/^\d+\. /.test(text)) return list(text, "ol", linkOf)
  return `<p>${inline(text.replace(/\s*\n\s*/g, " "), linkOf)}</p>`
}

export const markdown = (text: string, linkOf: LinkOf = linkOutside): string =>
  blocksOf(text)
    .map((it) => block(it, linkOf))
    .join("\n")
