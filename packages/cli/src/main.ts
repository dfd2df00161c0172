/** The entry point of the bundle: this process's arguments, streams and signals. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import { TerminalCapabilities } from "effect/cli"
import { layerNodeHttp } from "./connection/nodeHttp.ts"
import { Environment } from "./environment/Environment.ts"
import { exitCodes } from "./failures/exitCodes.ts"
import { Browser } from "./login/Browser.ts"
import { writeFailed } from "./output/writeFailed.ts"
import { cliLayer, runCli } from "./runCli.ts"

/**
 * When the reader of a pipe exits (`narthex events tail | head -1`), writes fail with EPIPE: exit quietly. Any other
 * failure, as of a full disk, has lost what was to be shown, perhaps a secret.
 */
const exitAfter = ({ code, message }: NodeJS.ErrnoException): never => {
  if (code === "EPIPE") process.exit(exitCodes.ok.code)
  writeFailed(message)
  process.exit(exitCodes.failed.code)
}
process.stdout.on("error", exitAfter)

const layer = cliLayer.pipe(
  Layer.provideMerge(Browser.layer),
  Layer.provideMerge(Layer.merge(layerNodeHttp, TerminalCapabilities.layer)),
  Layer.provideMerge(Environment.layer),
  Layer.provideMerge(NodeServices.layer)
)

let code: number = exitCodes.interrupted.code
const program = Effect.map(runCli(process.argv.slice(2)), (reached) => {
  code = reached
})

NodeRuntime.runMain(Effect.provide(program, layer), {
  disableErrorReporting: true,
  // An open standard input keeps the process alive, so it exits explicitly, after pending output is flushed.
  teardown: () => process.stdout.write("", (error) => (error ? exitAfter(error) : process.exit(code)))
})
