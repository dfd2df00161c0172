/**
 * A Vitest worker thread that outlives a run. Effect and Vitest stay loaded; of the repository's modules, those that a
 * run names as changed are evaluated again, and with them everything that imports them.
 *
 * Pitfall: leaving out `fetchWarmModules`. Vitest's workers ask once for a snapshot of the server's modules and keep it,
 * so a fault planted later would never be seen.
 */
import { parentPort } from "node:worker_threads"
import { init, runBaseTests, setupEnvironment } from "vitest/worker"

const port = parentPort
if (port === null) throw new Error("This module is the start of a worker thread.")
port.setMaxListeners(0)

type State = Parameters<typeof runBaseTests>[1]
type Modules = State["evaluatedModules"]

/** The modules that this thread has evaluated; the state of a run has none until its tests begin. */
let evaluated: Modules | undefined

const forget = (modules: Modules, changed: ReadonlyArray<string>) => {
  const seen = new Set(changed.flatMap((file) => [...(modules.fileToModulesMap.get(file) ?? [])]))
  for (const module of seen)
    for (const id of module.importers) {
      const importer = modules.idToModuleMap.get(id)
      if (importer !== undefined) seen.add(importer)
    }
  for (const module of seen) modules.invalidateModule(module)
}

const withoutSnapshot = (rpc: State["rpc"]): State["rpc"] =>
  new Proxy(rpc, {
    get: (all, name, self) => (name === "fetchWarmModules" ? async () => null : Reflect.get(all, name, self))
  })

const run =
  (method: "run" | "collect") =>
  async (state: State, traces: Parameters<typeof runBaseTests>[2]): Promise<void> => {
    if (evaluated !== undefined) forget(evaluated, state.ctx.invalidates ?? [])
    state.rpc = withoutSnapshot(state.rpc)
    await runBaseTests(method, state, traces)
  }

// No teardown: it would take away the listener, and the next run starts with another message.
init({
  post: (response) => port.postMessage(response),
  on: (callback) => port.on("message", callback),
  off: (callback) => port.off("message", callback),
  runTests: run("run"),
  collectTests: run("collect"),
  setup: setupEnvironment,
  onModuleRunner: (runner) => {
    evaluated = runner.evaluatedModules
  }
})
