/** The fenced blocks of the documentation, each with its place in the text. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")

export interface Block {
  /** The page, as a path from the root. */
  readonly page: string
  /** `page:line` of its first line. */
  readonly at: string
  /** The word after the fence; empty for drawings. */
  readonly language: string
  /** The heading that it stands under. */
  readonly heading: string
  /** The paragraph right before it, on one line, without its bold marks. */
  readonly lead: string
  readonly text: string
}

const fence = /^(`{3,})(\w*)\s*$/

/** The blocks of a page, in its order. */
export const fencedBlocks = (page: string, markdown: string): ReadonlyArray<Block> => {
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
      const { at, language } = open
      blocks.push({ page, at, language, heading, lead, text: `${inside.join("\n")}\n` })
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

/** Blocks with the language `sh`, in the order of the page. */
export const shellBlocks = (page: string, markdown: string): ReadonlyArray<Block> =>
  fencedBlocks(page, markdown).filter(({ language }) => language === "sh")

/** The pages for people: at the root, in docs, in packages and in examples. */
export const documentationPages: ReadonlyArray<string> = globSync(
  ["*.md", "docs/**/*.md", "packages/*/*.md", "packages/*/src/**/*.md", "examples/**/*.md"],
  { cwd: root, exclude: ["**/node_modules"] }
).toSorted()

/** Every fenced block of the documentation. */
export const documentedBlocks: ReadonlyArray<Block> = documentationPages.flatMap((page) =>
  fencedBlocks(page, readFileSync(join(root, page), "utf8"))
)
