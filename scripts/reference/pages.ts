/**
 * The pages of `docs/reference`: every public name of every library, with its declaration and docstring. They are the
 * reference for readers, and for reviewers the record of public types: a change of a type is a change of a page.
 */
import { createHash } from "node:crypto"
import { dirname } from "node:path"
import type { Member, PublicModule } from "./publicModules.ts"

/** An entry of a package's `exports`, with its public modules. */
export interface Entry {
  /** What it is imported by. */
  readonly name: string
  readonly description: string
  /** The name of its page, or of the folder of its pages. */
  readonly page: string
  /** The folder of its sources, from the root of the repository. */
  readonly sources: string
  readonly modules: ReadonlyArray<PublicModule>
  /** What it also exports of other packages: package → names. */
  readonly others: ReadonlyMap<string, ReadonlyArray<string>>
}

/** An entry with more modules than this has a page for each of its folders. */
const modulesOfOnePage = 30
/**
 * Lines of a declaration. What the compiler infers for a whole contract has thousands, too many to review.
 */
const longest = 150
const shown = 12

/** The page of the client's calls, from the folder of these pages. */
const calls = "../calls"

const generated = "<!-- Generated from declarations by scripts/reference.ts: change the docstrings and types there. -->"

const shortened = (text: string): string => {
  const lines = text.split("\n")
  if (lines.length <= longest) return text
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16)
  return [...lines.slice(0, shown), `// … and ${lines.length - shown} lines, whose digest is ${digest}.`].join("\n")
}

const member = ({ doc, name, texts }: Member): ReadonlyArray<string> => [
  `### ${name}`,
  "",
  ...(doc === "" ? [] : [doc, ""]),
  "```ts",
  texts.map(shortened).join("\n\n"),
  "```",
  ""
]

const module = (entry: Entry, depth: string, { header, members, path }: PublicModule): ReadonlyArray<string> => [
  `## [${path}](${depth}${entry.sources}/${path}.ts)`,
  "",
  ...(header === "" ? [] : [header, ""]),
  ...members.flatMap(member)
]

const folderOf = ({ path }: PublicModule) => (dirname(path) === "." ? "" : (path.split("/")[0] ?? ""))

const page = (entry: Entry, title: string, file: string, modules: ReadonlyArray<PublicModule>) =>
  [
    generated,
    `# ${title}`,
    "",
    entry.description,
    "",
    ...[...entry.others].flatMap(([from, names]) => [
      `It also exports names of \`${from}\`: ${names.map((name) => `\`${name}\``).join(", ")}.`,
      ""
    ]),
    ...modules.flatMap((it) => module(entry, "../".repeat(file.split("/").length + 1), it))
  ]
    .join("\n")
    .trimEnd()
    .concat("\n")

/** The pages of an entry: path below `docs/reference` → text. */
const pagesOf = (entry: Entry): Readonly<Record<string, string>> => {
  if (entry.modules.length <= modulesOfOnePage) {
    const file = `${entry.page}.md`
    return { [file]: page(entry, entry.name, file, entry.modules) }
  }
  return Object.fromEntries(
    [...Map.groupBy(entry.modules, folderOf)].map(([folder, modules]) => {
      const file = `${entry.page}/${folder === "" ? "root" : folder}.md`
      const title = folder === "" ? entry.name : `${entry.name}: ${folder}`
      return [file, page(entry, title, file, modules)]
    })
  )
}

const names = (modules: ReadonlyArray<PublicModule>) =>
  modules.flatMap(({ members }) => members.map(({ name }) => `\`${name}\``)).join(", ")

const index = (entries: ReadonlyArray<Entry>) =>
  [
    generated,
    "# Reference of the libraries",
    "",
    "Every public name of every library, with its type and what its docstring says. Names are imported from the root of the",
    "package, or from the entry that the heading names. `npm run reference` generates these pages, and CI compares them, so",
    "that every change of a public type is part of a commit's diff. The calls of the client, group by group, are",
    `[a page of their own](${calls}.md).`,
    "",
    ...entries.flatMap((entry) => [
      `## ${entry.name}`,
      "",
      entry.description,
      "",
      ...Object.keys(pagesOf(entry)).map((file) => {
        const folder = entry.modules.length <= modulesOfOnePage ? undefined : file.slice(entry.page.length + 1, -3)
        const those = entry.modules.filter((it) => folder === undefined || (folderOf(it) || "root") === folder)
        return `- [${folder ?? entry.name}](${file}): ${names(those)}`
      }),
      ""
    ])
  ]
    .join("\n")
    .trimEnd()
    .concat("\n")

/** Every page: path below `docs/reference` → text. */
export const referencePages = (entries: ReadonlyArray<Entry>): Readonly<Record<string, string>> => ({
  "README.md": index(entries),
  ...Object.fromEntries(entries.flatMap((entry) => Object.entries(pagesOf(entry))))
})
