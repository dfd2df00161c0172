/**
 * Counts what a Node process loads and opens: modules and sockets, as a line of JSON at the end of standard error. The
 * permission model lets the process read one file only, so reading another one fails.
 */
const counter = `
  import { registerHooks } from "node:module"
  import { subscribe } from "node:diagnostics_channel"
  const loaded = []
  let sockets = 0
  registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context) } })
  subscribe("net.client.socket", () => { sockets += 1 })
  process.on("exit", () => process._rawDebug(JSON.stringify({ loaded, sockets })))
`

/** The options of Node that install the counter. */
export const counting = (readable: string): ReadonlyArray<string> => [
  "--permission",
  `--allow-fs-read=${readable}`,
  `--import=data:text/javascript,${encodeURIComponent(counter)}`
]

export interface StartUp {
  /** The files of loaded modules, without those of Node itself. */
  readonly files: ReadonlyArray<string>
  readonly sockets: number
}

export const startUpOf = (stderr: string): StartUp => {
  const { loaded, sockets }: { readonly loaded: ReadonlyArray<string>; readonly sockets: number } = JSON.parse(
    stderr.trimEnd().split("\n").at(-1) ?? ""
  )
  return { files: loaded.filter((url) => !url.startsWith("node:")), sockets }
}
