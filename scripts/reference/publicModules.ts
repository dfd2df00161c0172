/** The modules of an entry of a package, and what it makes public of each. */
import { readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { type Declaration, readDeclarations } from "./declarations.ts"

export interface PublicModule {
  /** Below the folder of the entry, without ending: `allowlist/Cidr`. */
  readonly path: string
  readonly header: string
  /** What is public, in the order of the module, each with what its declaration needs of the module's private ones. */
  readonly members: ReadonlyArray<Member>
}

export interface Member {
  readonly name: string
  readonly doc: string
  readonly texts: ReadonlyArray<string>
}

/** The names that an entry passes on from other packages: package → names. Their reference is that of the package. */
export const passedOn = (folder: string, entry: string): ReadonlyMap<string, ReadonlyArray<string>> => {
  const file = join(folder, entry)
  const { exports } = readDeclarations(file, readFileSync(file, "utf8"))
  const foreign = exports.filter(({ from }) => !from.startsWith("."))
  return new Map(foreign.map(({ from, names }) => [from, names === "all" ? ["all"] : names.map(([, ours]) => ours)]))
}

const declarationFile = (path: string) => path.replace(/\.tsx?$/, ".d.ts")

/** The private declarations of the module that a text names, directly or through others, before the text itself. */
const withPrivate = (member: Declaration, all: ReadonlyArray<Declaration>): ReadonlyArray<string> => {
  const needed = new Set<Declaration>()
  const visit = ({ text }: Declaration) => {
    for (const other of all)
      if (!other.exported && !needed.has(other) && new RegExp(`\\b${other.name}\\b`).test(text)) {
        needed.add(other)
        visit(other)
      }
  }
  visit(member)
  return [...all.filter((it) => needed.has(it)), member].map(({ text }) => text)
}

/** Every module that the entry passes on, by path. `folder` has its declaration files. */
export const publicModules = (folder: string, entry: string): ReadonlyArray<PublicModule> => {
  const found = new Map<string, Set<string> | "all">()
  const follow = (file: string) => {
    for (const { from, names } of readDeclarations(file, readFileSync(file, "utf8")).exports) {
      // What is passed on from another package is in the reference of that package.
      if (!from.startsWith(".")) continue
      const target = declarationFile(join(dirname(file), from))
      const before = found.get(target)
      if (names === "all" || before === "all") found.set(target, "all")
      else found.set(target, new Set([...(before ?? []), ...names.map(([theirs]) => theirs)]))
    }
  }
  follow(join(folder, entry))
  // An entry may declare what it makes public itself, instead of passing it on.
  const own = readDeclarations(join(folder, entry), readFileSync(join(folder, entry), "utf8")).declarations
  if (own.some(({ exported }) => exported)) found.set(join(folder, entry), "all")
  return [...found]
    .map(([file, names]) => {
      const { declarations, header } = readDeclarations(file, readFileSync(file, "utf8"))
      const isPublic = (it: Declaration) => it.exported && (names === "all" || names.has(it.name))
      // A schema and its type have one name: they are one member.
      const groups = Map.groupBy(declarations.filter(isPublic), ({ name }) => name)
      return {
        path: relative(folder, file).replace(/\.d\.ts$/, ""),
        header,
        members: [...groups].map(([name, parts]) => ({
          name,
          doc: parts
            .map(({ doc }) => doc)
            .filter(Boolean)
            .join("\n\n"),
          texts: [...new Set(parts.flatMap((part) => withPrivate(part, declarations)))]
        }))
      }
    })
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
}
