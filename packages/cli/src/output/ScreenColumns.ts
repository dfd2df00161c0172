/** The columns of the terminal on standard output; `undefined` if it is none. A window can change its size. */
import { Context } from "effect"

export const ScreenColumns = Context.Reference<() => number | undefined>("@narthex/cli/output/ScreenColumns", {
  defaultValue: () => () => process.stdout.columns
})
