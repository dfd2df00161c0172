/**
 * Reads a declaration file: its header, and its declarations with their docstrings. Texts are as they are in the file.
 */
import { parseSync } from "rolldown/utils"

export interface Declaration {
  readonly name: string
  /** The docstring right before it; empty without one. */
  readonly doc: string
  readonly text: string
  readonly exported: boolean
}

export interface DeclarationFile {
  /** What the module is: the docstring with which the file begins. */
  readonly header: string
  readonly declarations: ReadonlyArray<Declaration>
  readonly exports: ReadonlyArray<Export>
}

/** A statement that passes on what another module exports. */
export interface Export {
  readonly from: string
  /** The names it passes on, each with the name that the other module gives it; `all` for `export *`. */
  readonly names: "all" | ReadonlyArray<readonly [theirs: string, ours: string]>
}

/** What is read of a node of the syntax tree. Its type in `rolldown` is a union of all nodes of the language. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly id?: { readonly name?: string } | null
  readonly declaration?: Node | null
  readonly declarations?: ReadonlyArray<{ readonly id: { readonly name?: string } }>
  readonly source?: { readonly value: string } | null
  readonly specifiers?: ReadonlyArray<{
    readonly local: { readonly name?: string }
    readonly exported: { readonly name?: string }
  }>
}

const nameOf = (node: Node): string => node.id?.name ?? node.declarations?.[0]?.id.name ?? ""

/** The text of a docstring without its marks. An example becomes a block of code. */
const textOf = (comment: string): string =>
  comment
    .replace(/^\*/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .join("\n")
    .trim()
    .replace(/^@example\n(?!```)([\s\S]*?)(?=\n\n|\n@|$(?![\s\S]))/gm, "```ts\n$1\n```")
    .replace(/^@example\n/gm, "")

export const readDeclarations = (file: string, source: string): DeclarationFile => {
  const { comments, errors, program } = parseSync(file, source, { lang: "dts", sourceType: "module" })
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  const docs = comments.filter(({ type, value }) => type === "Block" && value.startsWith("*"))
  const nodes = program.body as unknown as ReadonlyArray<Node>

  const opening = docs.find(({ start }) => start === 0)
  const docOf = ({ start }: Node) => {
    const doc = docs.findLast(({ end }) => end <= start && source.slice(end, start).trim() === "")
    return doc === undefined || doc === opening ? "" : textOf(doc.value)
  }

  return {
    header: opening === undefined ? "" : textOf(opening.value),
    declarations: nodes.flatMap((node) => {
      const inner = node.type === "ExportNamedDeclaration" ? node.declaration : node
      const name = inner == null || node.type === "ImportDeclaration" ? "" : nameOf(inner)
      if (name === "") return []
      const text = source.slice(node.start, node.end)
      return [{ name, doc: docOf(node), text, exported: node.type === "ExportNamedDeclaration" }]
    }),
    exports: nodes.flatMap((node): ReadonlyArray<Export> => {
      if (node.source == null) return []
      if (node.type === "ExportAllDeclaration") return [{ from: node.source.value, names: "all" }]
      if (node.type !== "ExportNamedDeclaration") return []
      const names = (node.specifiers ?? []).map(
        ({ exported, local }) => [local.name ?? "", exported.name ?? ""] as const
      )
      return [{ from: node.source.value, names }]
    })
  }
}
