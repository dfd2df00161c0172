/** One failure in a few lines: the test's line, the message, and the difference. */
import { relative } from "node:path"
import { stripVTControlCharacters } from "node:util"
import type { SerializedError } from "vitest/node"

const mostLines = 40

/** `file:line:column` of the first frame in a test or a shared test file, relative to the checkout. */
export const ownLine = (error: SerializedError, root: string): string | undefined => {
  const frames = (error.stack ?? "")
    .split("\n")
    .filter((line) => /^\s*at /.test(line) && !line.includes("node_modules"))
  const inTests = frames.find((line) => /\.test\.tsx?:\d+/.test(line)) ?? frames.find((line) => line.includes("/test"))
  const found = /\(?(?:file:\/\/)?(\/[^()\s]+:\d+:\d+)\)?$/.exec(inTests ?? frames[0] ?? "")?.[1]
  return found === undefined ? undefined : relative(root, found)
}

/** The message and the difference, without colours. Long ones are cut; the log has all of it. */
export const describeError = (error: SerializedError): ReadonlyArray<string> => {
  const { diff } = error as { readonly diff?: string } // Vitest adds it to failed assertions.
  const text = stripVTControlCharacters([error.message, ...(diff === undefined ? [] : ["", diff])].join("\n"))
  const lines = text.split("\n")
  return lines.length <= mostLines ? lines : [...lines.slice(0, mostLines), `… ${lines.length - mostLines} more lines`]
}
