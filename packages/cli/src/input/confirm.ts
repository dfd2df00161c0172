/**
 * Questions before changes that open or end something. They are asked on a terminal only; elsewhere `--yes` must have
 * been given, so that a script says what it means.
 */
import { Effect, Option, Stdio, Stream } from "effect"
import { Flag, GlobalFlag, TerminalCapabilities } from "effect/cli"
import { Stopped, UsageMistake } from "../failures/LocalFailure.ts"
import { Output } from "../output/Output.ts"

export const NoInput = GlobalFlag.Setting("no-input")({
  flag: Flag.Boolean("no-input").pipe(
    Flag.withoutNegation,
    Flag.withDescription("Never ask questions, even on a terminal"),
    Flag.withDefault(false)
  )
})

/** May a question be asked? */
export const canAsk = Effect.gen(function* () {
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  return canPrompt && !(yield* NoInput)
})

/** `effect` says what will be true afterwards. */
export const confirm = Effect.fn("confirm")(function* (effect: string, yes: boolean) {
  if (yes) return
  if (!(yield* canAsk))
    return yield* new UsageMistake({
      message: `${effect} Without a terminal to confirm on, --yes is required.`,
      hint: "pass --yes"
    })
  if (!(yield* agrees(effect))) return yield* new Stopped({ message: "Nothing was changed." })
})

/** Anything but a yes is a no, the end of input too. */
export const agrees = Effect.fn("agrees")(function* (effect: string) {
  const output = yield* Output
  const { stdin } = yield* Stdio.Stdio
  yield* output.question(`${effect} Continue? [y/N]`)
  const line = yield* stdin.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.runHead,
    Effect.catch(() => Effect.succeedNone)
  )
  return Option.exists(line, (text) => /^y(es)?$/i.test(text.trim()))
})
