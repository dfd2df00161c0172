/**
 * The output of effect/cli itself, in the voice of every other command. Help goes to standard output if it was
 * requested; a usage error goes to standard error, and standard output stays empty.
 */
import { Console, Context, Effect, Stdio } from "effect"
import { type CliOutput, TerminalCapabilities } from "effect/cli"
import { explainUsage } from "../failures/explainUsage.ts"
import { failureText } from "./failureText.ts"
import { formatOf } from "./OutputFormat.ts"
import { renderHelp } from "./renderHelp.ts"
import { responseFields } from "./responseFields.ts"
import { ScreenColumns } from "./ScreenColumns.ts"

/** `args`: the arguments of the run, for the format of a usage error. */
export const presenter = (args: ReadonlyArray<string>) =>
  Effect.map(
    Effect.context<Stdio.Stdio>(),
    (context): CliOutput.Presenter => ({
      present: (event) =>
        Effect.gen(function* () {
          const { canColor } = yield* TerminalCapabilities.TerminalCapabilities
          switch (event._tag) {
            case "Help": {
              const width = helpWidth((yield* ScreenColumns)())
              const bold = (text: string) => (canColor ? `\u001b[1m${text}\u001b[0m` : text)
              return yield* Console.log(renderHelp(event.helpDoc, { bold, width }))
            }
            case "InvalidInvocation": {
              const colour = canColor && (yield* Context.get(context, Stdio.Stdio).stderrIsTerminal)
              const explanation = explainUsage(event.commandPath, event.errors, responseFields(event.commandPath))
              return yield* Console.error(failureText(explanation, formatOf(args), colour))
            }
            case "Version":
              return yield* Console.log(versionText(event))
          }
        })
    })
  )

const versionText = ({ name, version }: { readonly name: string; readonly version: string }) => `${name} v${version}`

/** Long lines are hard to read, and a pipe has no width. */
const helpWidth = (columns: number | undefined): number =>
  columns === undefined ? 80 : Math.min(100, Math.max(40, columns))
