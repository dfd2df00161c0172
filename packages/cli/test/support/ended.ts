/** The output of a child process, and how it ends. */
import type { ChildProcessWithoutNullStreams } from "node:child_process"
import { within } from "../../../../test/harness/eventually.ts"

/** Collects what a stream says; the result returns what has arrived. */
export const text = (stream: NodeJS.ReadableStream): (() => string) => {
  let read = ""
  stream.setEncoding("utf8")
  stream.on("data", (piece: string) => {
    read += piece
  })
  return () => read
}

/** Standard input stays open, as on a terminal. A command must end nevertheless. */
export const ended = (child: ChildProcessWithoutNullStreams) => {
  const stdout = text(child.stdout)
  const stderr = text(child.stderr)
  const end = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.once("close", (code) => resolve({ code, stdout: stdout(), stderr: stderr() }))
  })
  return within("the command to end", end)
}

/** Waits until a stream says something that matches, and returns it. */
export const printed = (stream: NodeJS.ReadableStream, wanted: RegExp) => {
  const found = new Promise<string>((resolve) => {
    let read = ""
    stream.on("data", (piece: string) => {
      read += piece
      const match = wanted.exec(read)
      if (match !== null) resolve(match[0])
    })
  })
  return within(`${wanted} in the output`, found)
}
