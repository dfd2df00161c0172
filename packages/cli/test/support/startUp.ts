/**
 * Counts what a Node process loads and opens: modules with their bytes, modules of Node and sockets, as a line of JSON
 * at the end of standard error. The permission model lets the process read one file or folder only, so reading another
 * one fails.
 */
const counter = `
  import { registerHooks } from "node:module"
  import { subscribe } from "node:diagnostics_channel"
  const files = []
  let bytes = 0
  let sockets = 0
  registerHooks({
    load: (url, context, next) => {
      const found = next(url, context)
      if (!url.startsWith("node:")) {
        files.push(url)
        bytes += Buffer.byteLength(found.source)
      }
      return found
    }
  })
  subscribe("net.client.socket", () => { sockets += 1 })
  process.on("exit", () => {
    const builtins = process.moduleLoadList.flatMap((entry) => entry.split("NativeModule ").slice(1))
    process._rawDebug(JSON.stringify({ files, bytes, builtins, sockets }))
  })
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
  /** The sum of their sizes. */
  readonly bytes: number
  /** The modules of Node that are loaded, its internal ones included. */
  readonly builtins: ReadonlyArray<string>
  readonly sockets: number
}

export const startUpOf = (stderr: string): StartUp => JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "")
