/** The columns of the terminal on a stream; `undefined`: the stream is no terminal. A window can change its size. */
import { Context } from "effect"

export const ScreenColumns = Context.Reference<() => number | undefined>("@narthex/cli/output/ScreenColumns", {
  defaultValue: () => () => process.stdout.columns
})

/** The same of standard error. */
export const NoteColumns = Context.Reference<() => number | undefined>("@narthex/cli/output/NoteColumns", {
  defaultValue: () => () => process.stderr.columns
})
