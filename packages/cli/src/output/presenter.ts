/**
 * The output of effect/cli itself. Help goes to standard output if it was requested; a usage error goes to standard
 * error, and standard output stays empty.
 */
import { Console, Effect } from "effect"
import { CliOutput, TerminalCapabilities } from "effect/cli"

export const presenter = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Effect.gen(function* () {
          const { canColor } = yield* TerminalCapabilities.TerminalCapabilities
          const errors = CliOutput.defaultFormatter({ colors: canColor }).formatErrors(event.errors)
          yield* Console.error(errors.trim())
          yield* Console.error(`Usage: ${event.helpDoc.usage}\nRun \`${event.commandPath.join(" ")} --help\` for more.`)
        })
      : CliOutput.defaultPresenter.present(event)
})
