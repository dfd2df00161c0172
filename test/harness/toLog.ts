/** The standard error of a child process belongs to the log of its test file, which a failure names. */
import type { Readable } from "node:stream"

export const toLog = (stream: Readable | null | undefined): void => {
  stream?.setEncoding("utf8").on("data", (text: string) => console.info(text.trimEnd()))
}
