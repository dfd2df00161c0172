/**
 * What a Node process does until it ends: the modules that it loads and the sockets that it opens, as a line of JSON at
 * the end of standard error. The process may read nothing but one file, so whatever else it reads fails it.
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

/** Options of Node. */
export const counting = (readable: string): ReadonlyArray<string> => [
  "--permission",
  `--allow-fs-read=${readable}`,
  `--import=data:text/javascript,${encodeURIComponent(counter)}`
]

export interface StartUp {
  /** Files of which modules were made; what Node itself holds is left out. */
  readonly files: ReadonlyArray<string>
  readonly sockets: number
}

export const startUpOf = (stderr: string): StartUp => {
  const { loaded, sockets }: { readonly loaded: ReadonlyArray<string>; readonly sockets: number } = JSON.parse(
    stderr.trimEnd().split("\n").at(-1) ?? ""
  )
  return { files: loaded.filter((url) => !url.startsWith("node:")), sockets }
}
