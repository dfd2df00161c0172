/**
 * A plugin of the bundler: modules of Node that most commands do not need are loaded by the first use of one of their
 * functions, not at the start.
 *
 * Pitfall: importing `node:http`. The import reads all its exports, among them `WebSocket`, which loads the HTTP client
 * of `fetch` and takes as long as the start of Node.
 */
import type { Plugin } from "rolldown"

/** The functions and classes that the bundle uses. An import of another name fails the build. */
const functions: Readonly<Record<string, ReadonlyArray<string>>> = {
  "node:child_process": ["execFile", "spawn"],
  "node:crypto": ["createHash", "randomBytes", "timingSafeEqual"],
  "node:http": ["createServer"],
  "node:readline": ["createInterface", "emitKeypressEvents"],
  "node:tls": ["TLSSocket", "connect", "createSecureContext"]
}

/** Where the HTTP client of Effect loads `node:http` and `node:https`, both of them. */
const bothHttp = /platform-node\/(?:dist|src)\/internal\/http\.[jt]s$/

const deferred = (name: string) => `process.getBuiltinModule("${name}")`

const whole = (name: string) => `/*#__PURE__*/ new Proxy({}, { get: (_, key) => ${deferred(name)}[key] })`

/**
 * `node:fs` is loaded by Node itself. An import of it reads all its exports, though, and some of them load streams and
 * promises; so the bundle takes the others from it.
 */
const fileSystem = "node:fs"

const plainExports = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(fileSystem))).flatMap(
  ([name, { value }]) => (value === undefined ? [] : [`export const ${name} = /*#__PURE__*/ (() => loaded.${name})()`])
)

const promises = "/*#__PURE__*/ new Proxy({}, { get: (_, key) => loaded.promises[key] })"

const prefix = "\0deferred:"

export const deferredBuiltins: Plugin = {
  name: "deferred-builtins",
  resolveId: (id) =>
    id in functions || id === fileSystem ? { id: `${prefix}${id}`, moduleSideEffects: false } : undefined,
  load: (id) => {
    if (bothHttp.test(id))
      return ["http", "https"].map((name) => `export const ${name} = ${whole(`node:${name}`)}`).join("\n")
    if (!id.startsWith(prefix)) return undefined
    const name = id.slice(prefix.length)
    if (name === fileSystem)
      return [`const loaded = ${deferred(name)}`, ...plainExports, `export const promises = ${promises}`].join("\n")
    return [
      ...(functions[name] ?? []).map(
        (called) => `export function ${called}(...given) {
          const { ${called}: called } = ${deferred(name)}
          return new.target ? new called(...given) : called(...given)
        }`
      ),
      `export default ${whole(name)}`
    ].join("\n")
  }
}
