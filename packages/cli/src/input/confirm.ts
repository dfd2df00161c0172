/**
 * Confirmation of destructive changes (docs/design/cli.md C15). Questions appear on a terminal only; elsewhere `--yes`
 * is required, so that a script states its intention.
 */
import { Effect, Option, Stdio, Stream } from "effect"
import { Flag, GlobalFlag, TerminalCapabilities } from "effect/cli"
import { Declined, UsageMistake } from "../failures/LocalFailure.ts"
import { Output } from "../output/Output.ts"

export const NoInput = GlobalFlag.Setting("no-input")({
  flag: Flag.Boolean("no-input").pipe(
    Flag.withoutNegation,
    Flag.withDescription("Never ask questions, even on a terminal"),
    Flag.withDefault(false)
  )
})

/** Whether questions are possible: on a terminal, without `--no-input`. */
export const canAsk = Effect.gen(function* () {
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  return canPrompt && !(yield* NoInput)
})

/** `effect` is a sentence that states the result of the change. Fails unless the change is confirmed. */
export const confirm = Effect.fn("confirm")(function* (effect: string, yes: boolean) {
  if (yes) return
  if (!(yield* canAsk))
    return yield* new UsageMistake({
      message: `${effect} Without a terminal to confirm on, --yes is required.`,
      hint: "pass --yes"
    })
  if (!(yield* agrees(effect))) return yield* new Declined({ message: "Nothing was changed." })
})

/** Asks on the terminal. Only `y` and `yes` confirm; the end of input does not. */
export const agrees = Effect.fn("agrees")(function* (effect: string) {
  const output = yield* Output
  const { stdin } = yield* Stdio.Stdio
  yield* output.question(`${effect} Continue? [y/N]`)
  const line = yield* stdin.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.runHead,
    Effect.catch(() => Effect.succeedNone),
    Effect.onInterrupt(() => output.endLine)
  )
  // The output that follows begins on its own line.
  if (Option.isNone(line)) yield* output.endLine
  return Option.exists(line, (text) => /^y(es)?$/i.test(text.trim()))
})
