/**
 * Puts the members of unions in alphabetical order. The compiler writes those of an inferred union in the order in which
 * it has met them, which differs from one build to the next.
 */
import { parseSync } from "rolldown/utils"

/** What is read of a node of the syntax tree. Its type in `rolldown` is a union of all nodes of the language. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly types?: ReadonlyArray<Node>
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && "start" in value && "end" in value

/** The outermost unions below a value of the tree, in the order of the text. */
const unionsBelow = (value: unknown): ReadonlyArray<Node> => {
  if (Array.isArray(value)) return value.flatMap(unionsBelow)
  if (typeof value !== "object" || value === null) return []
  if (isNode(value) && value.type === "TSUnionType") return [value]
  return Object.values(value).flatMap(unionsBelow)
}

export const sortedUnions = (file: string, source: string): string => {
  const { errors, program } = parseSync(file, source, { lang: "dts", sourceType: "module" })
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)

  /** The text from `start` to `end`, in which these unions are sorted. */
  const rewritten = (start: number, end: number, unions: ReadonlyArray<Node>): string => {
    let at = start
    let text = ""
    for (const union of unions.toSorted((a, b) => a.start - b.start)) {
      text += source.slice(at, union.start) + sorted(union)
      at = union.end
    }
    return text + source.slice(at, end)
  }
  const sorted = ({ end, start, types = [] }: Node): string => {
    // Comments between members belong to the order that a person has written.
    if (source.slice(start, end).includes("/*")) return rewritten(start, end, types.flatMap(unionsBelow))
    return types
      .map((member) => rewritten(member.start, member.end, unionsBelow(member)))
      .sort()
      .join(" | ")
  }
  return rewritten(0, source.length, unionsBelow(program))
}
