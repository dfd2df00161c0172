/** The command lines of the documentation, and what is the same each time that one is typed. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../support/surroundings.ts"

/**
 * Lines of code blocks that begin with `narthex`, or are a step of GitHub Actions, without their comments. "Ten
 * minutes" of the README is the walk's (`test/walk`).
 */
const linesOf = (page: string): ReadonlyArray<string> => {
  const text = readFileSync(join(root, page), "utf8").replace(/^## Ten minutes$[\s\S]*?^## /m, "## ")
  return [...text.matchAll(/^(`{3,})\w*\n([\s\S]*?)^\1$/gm)].flatMap(([, , block = ""]) =>
    block.split("\n").flatMap((line) => {
      const [, command] = /^(?: *run: )?(narthex .+?)(?:\s+#.*)?$/.exec(line) ?? []
      return command === undefined ? [] : [command]
    })
  )
}

/** The pages for users of the command line, each with its lines, where it has any. */
export const documentedLines = (): Readonly<Record<string, ReadonlyArray<string>>> =>
  Object.fromEntries(
    ["README.md", "packages/cli/README.md", ...globSync("docs/guides/*.md", { cwd: root })]
      .map((page) => [page, linesOf(page)] as const)
      .filter(([, lines]) => lines.length > 0)
  )

/** Texts that differ from run to run: ids, ports, passwords, instants and durations. */
export const normalized = (text: string): string =>
  text
    .replaceAll(/(prj|br|ep|key)-[0-9a-z]{20,}/g, "$1-ID")
    .replaceAll(/\brole_\w+/g, "role_ID")
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}\b/g, "UUID")
    .replaceAll(/(127\.0\.0\.1|localhost):\d+/g, "$1:PORT")
    .replaceAll(/(role_ID):[^@\s]+@/g, "$1:PASSWORD@")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g, "INSTANT")
    .replaceAll(/\b\d+\.\d s\b/g, "SECONDS")
    // A new branch is measured within a minute, before the answer or after it.
    .replaceAll(/^((?:size|measured) +)(?:-|[\d.]+ MB \(\d+ B\)|INSTANT \(.+\))$/gm, "$1SIZE")
    .replaceAll(/\((now|\d+ (s|min) ago)\)/g, "(NOW)")
    // A psql of another version than the server's says so.
    .replace(/^psql \(.+\)\n(WARNING:.+\n.+\n)?/, "psql (VERSION)\n")
    .replaceAll(/(state|code_challenge|redirect_uri|name)=[^&\s]+/g, "$1=…")
