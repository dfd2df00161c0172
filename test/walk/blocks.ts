/** The shell blocks of a page, each with its place in the text. */

export interface Block {
  /** `page:line` of its first command. */
  readonly at: string
  /** The heading that it stands under. */
  readonly heading: string
  /** The paragraph right before it, on one line, without its bold marks. */
  readonly lead: string
  readonly text: string
}

const fence = /^(`{3,})(\w*)\s*$/

/** Blocks with the language `sh`, in the order of the page. */
export const shellBlocks = (page: string, markdown: string): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  let heading = ""
  let paragraph: Array<string> = []
  let paragraphEnded = true
  let open: { readonly ticks: string; readonly language: string; readonly at: string } | undefined
  let inside: Array<string> = []
  for (const [index, line] of markdown.split("\n").entries()) {
    const [, ticks, language = ""] = fence.exec(line) ?? []
    if (open !== undefined && line.trimEnd() !== open.ticks) inside.push(line)
    else if (open !== undefined) {
      const lead = paragraph.join(" ").replaceAll("**", "")
      if (open.language === "sh") blocks.push({ at: open.at, heading, lead, text: `${inside.join("\n")}\n` })
      open = undefined
      paragraph = []
    } else if (ticks !== undefined) {
      open = { ticks, language, at: `${page}:${index + 2}` }
      inside = []
    } else if (line.startsWith("#")) {
      heading = line.replace(/^#+\s*/, "")
      paragraph = []
    } else if (line.trim() === "") paragraphEnded = true
    else {
      if (paragraphEnded) paragraph = []
      paragraphEnded = false
      paragraph.push(line.trim())
    }
  }
  if (open !== undefined) throw new Error(`${open.at}: the block is not closed.`)
  return blocks
}
