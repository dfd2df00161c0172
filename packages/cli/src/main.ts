/** The entry point of the bundle: this process's arguments, streams and signals. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import { TerminalCapabilities } from "effect/cli"
import { layerNodeHttp } from "./connection/nodeHttp.ts"
import { Environment } from "./environment/Environment.ts"
import { exitCodes } from "./failures/exitCodes.ts"
import { Browser } from "./login/Browser.ts"
import { cliLayer, runCli } from "./runCli.ts"

/** When the reader of a pipe exits (`narthex events tail | head -1`), writes fail with EPIPE: exit quietly. */
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? exitCodes.ok.code : exitCodes.failed.code)
})

const layer = cliLayer.pipe(
  Layer.provideMerge(Browser.layer),
  Layer.provideMerge(Environment.layer),
  Layer.provideMerge(Layer.merge(layerNodeHttp, TerminalCapabilities.layer)),
  Layer.provideMerge(NodeServices.layer)
)

let code: number = exitCodes.interrupted.code
const program = Effect.map(runCli(process.argv.slice(2)), (reached) => {
  code = reached
})

NodeRuntime.runMain(Effect.provide(program, layer), {
  disableErrorReporting: true,
  // An open standard input keeps the process alive, so it exits explicitly, after pending output is flushed.
  teardown: () => process.stdout.write("", () => process.exit(code))
})
