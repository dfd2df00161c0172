/**
 * The README of a tarball. Its links lead to files of the repository, which a registry does not have: a page that shows
 * the README, and a reader of `node_modules`, would find nothing there.
 */
import { posix } from "node:path"

/** A link of Markdown, outside of code: its text and its target without a title. */
const link = /(?<!!)\[([^\]]*)\]\(([^)\s]+)\)/g

/** Where a browser shows files of the repository at its newest commit. */
const shownAt = (repository: string) => `${repository.replace(/^git\+/, "").replace(/\.git$/, "")}/blob/HEAD`

/**
 * `folder`: of the package, from the root of the repository. `packed`: the files of the tarball. A link to one of them
 * stays; every other one becomes an address in the repository or, where none is known, its text alone.
 */
export const packedReadme = (
  text: string,
  folder: string,
  packed: ReadonlySet<string>,
  repository: string | undefined
): string =>
  text
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part) =>
      part.startsWith("```")
        ? part
        : part.replace(link, (written: string, name: string, target: string) => {
            const [path = "", heading] = target.split("#", 2)
            if (path === "" || /^[a-z][a-z0-9+.-]*:/i.test(path) || packed.has(posix.normalize(path))) return written
            if (repository === undefined) return name
            const there = posix.join(folder, path)
            return `[${name}](${shownAt(repository)}/${there}${heading === undefined ? "" : `#${heading}`})`
          })
    )
    .join("")
