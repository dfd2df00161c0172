/**
 * A plugin of the bundler: modules whose default export is a function, and that are evaluated by its first call.
 *
 * `string-width` compiles patterns of emoji when it is loaded, which takes longer than all of Effect; only text outside
 * ASCII is measured with it.
 */
import type { Plugin } from "rolldown"

const functions: ReadonlySet<string> = new Set(["string-width"])

const prefix = "\0deferred-module:"

export const deferredModules: Plugin = {
  name: "deferred-modules",
  resolveId: {
    order: "pre",
    handler: (id, importer) =>
      functions.has(id) && importer !== `${prefix}${id}`
        ? { id: `${prefix}${id}`, moduleSideEffects: false }
        : undefined
  },
  load: async function (id) {
    if (!id.startsWith(prefix)) return undefined
    const name = id.slice(prefix.length)
    const found = await this.resolve(name, import.meta.filename, { skipSelf: true })
    if (found === null) throw new Error(`${name} is not installed.`)
    // The bundler evaluates a module that is required when it is required.
    return `export default (...given) => require(${JSON.stringify(found.id)}).default(...given)`
  }
}
