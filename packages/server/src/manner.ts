/** Help, usage errors and exit codes of the server's programs are those of the command line (docs/design/cli.md C13, C30). */
import { styleText } from "node:util"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { builtInFlags, exitCodes, presenter } from "@narthex/cli/manner"
import { Effect } from "effect"
import { CliConfig, CliError, CliOutput } from "effect/cli"

/** For the run of a command. */
export const inManner = <A, E, R>(run: Effect.Effect<A, E, R>) =>
  run.pipe(
    Effect.provideServiceEffect(CliOutput.Presenter, presenter([])),
    Effect.provideService(CliConfig.CliConfig, CliConfig.make({ builtIns: builtInFlags })),
    Effect.provide(NodeServices.layer)
  )

/** The help or the usage error is printed already. */
export const isExplained = (error: unknown): error is CliError.ShowHelp =>
  CliError.isCliError(error) && error._tag === "ShowHelp"

/** `error`: why the program ended. */
export const exitCodeOf = (error: unknown): number => {
  if (!isExplained(error)) return exitCodes.failed.code
  return error.errors.length === 0 ? exitCodes.ok.code : exitCodes.usage.code
}

export const sayFailure = (sentence: string): void => {
  // The color is left out where stderr is not a terminal, or NO_COLOR is set.
  process.stderr.write(`${styleText("red", "error:", { stream: process.stderr })} ${sentence}\n`)
}
