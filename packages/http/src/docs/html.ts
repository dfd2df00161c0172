/**
 * Texts of the contract as HTML: escaped, in paragraphs, with `code` and `**emphasis**`. `scripts/guides.ts` renders the
 * guides, which are whole Markdown, before the server is built.
 */

export const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

/** Text of one paragraph. */
export const inline = (text: string): string =>
  escaped(text)
    .replace(/`([^`]+)`/g, "<code>$1</code>")
    .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>")

export const paragraphs = (text: string): string =>
  text
    .split(/\n{2,}/)
    .map((it) => `<p>${inline(it)}</p>`)
    .join("\n")

export const codeBlock = (code: string, label: string): string =>
  `<div class="code"><pre tabindex="0" aria-label="${escaped(label)}"><code>${escaped(code)}</code></pre></div>`

/** The text of HTML that this package or `scripts/guides.ts` made. */
export const plainText = (html: string): string =>
  html
    .replace(/<[^>]*>/g, "")
    .replace(/\s+/g, " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&")
