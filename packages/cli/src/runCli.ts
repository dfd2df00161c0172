/** One run of the command line: takes the arguments, returns the exit code. It never fails: a defect is a message. */
import { Cause, Effect, Layer, Logger } from "effect"
import { CliConfig, CliError, CliOutput, Command } from "effect/cli"
import { complete } from "./completion/complete.ts"
import { builtInFlags } from "./completion/flagsOfEveryCommand.ts"
import { hiddenCommand } from "./completion/hiddenCommand.ts"
import { Connection } from "./connection/Connection.ts"
import { LatestVersion } from "./connection/LatestVersion.ts"
import { ContextFile } from "./contexts/ContextFile.ts"
import { version } from "./environment/version.ts"
import { exitCodes } from "./failures/exitCodes.ts"
import type { Exited, Reported } from "./failures/LocalFailure.ts"
import { helpArguments } from "./help/helpArguments.ts"
import { usualNames } from "./input/usualNames.ts"
import { narthex } from "./narthex.ts"
import { Output } from "./output/Output.ts"
import { presenter } from "./output/presenter.ts"

export const runCli = Effect.fn("narthex")(function* (args: ReadonlyArray<string>) {
  const output = yield* Output
  const latest = yield* LatestVersion
  // Completion prints candidates only: no notice, no error.
  const completes = args[0] === hiddenCommand
  const code = yield* (completes ? complete(narthex, args.slice(1)) : running(usualNames(args))).pipe(
    Effect.as<number>(exitCodes.ok.code),
    Effect.catch((failure) => Effect.succeed(exitCodeOf(failure))),
    Effect.catchDefect((defect) =>
      Effect.gen(function* () {
        yield* Effect.logDebug(Cause.pretty(Cause.die(defect)))
        yield* output.warn("narthex failed unexpectedly. This is a bug in narthex; --log-level debug shows the cause.")
        return exitCodes.failed.code
      })
    )
  )
  if (!completes) yield* latest.notice
  return code
})

const running = (args: ReadonlyArray<string>) =>
  Command.runWith(narthex, { version })(helpArguments(narthex, args)).pipe(
    Effect.provideServiceEffect(CliOutput.Presenter, presenter(args))
  )

const exitCodeOf = (failure: Exited | Reported | CliError.CliError): number => {
  if (!CliError.isCliError(failure)) return failure._tag === "Exited" ? failure.code : exitCodes[failure.exit].code
  return failure._tag === "ShowHelp" && failure.errors.length === 0 ? exitCodes.ok.code : exitCodes.usage.code
}

/** The services of `runCli` that are the same in the bundle and in tests. */
export const cliLayer = Connection.layer.pipe(
  Layer.provideMerge(LatestVersion.layer),
  Layer.provideMerge(ContextFile.layer),
  Layer.provideMerge(Output.layer),
  Layer.provideMerge(
    Layer.mergeAll(
      CliConfig.layer({ builtIns: builtInFlags }),
      Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])
    )
  )
)
