/** Prints a table to standard output, or the sentence for one without rows to standard error. */
import { Clock, Console, Effect, Stdio } from "effect"
import { TerminalCapabilities } from "effect/cli"
import { renderTable } from "./renderTable.ts"
import { ScreenColumns } from "./ScreenColumns.ts"
import { printable, type Table } from "./table.ts"

export const printTable = Effect.fnUntraced(function* (table: Table, empty?: string) {
  const { canColor } = yield* TerminalCapabilities.TerminalCapabilities
  const onTerminal = yield* (yield* Stdio.Stdio).stdoutIsTerminal
  const now = onTerminal ? yield* Clock.currentTimeMillis : undefined
  const text = renderTable(table, { width: (yield* ScreenColumns)(), now, colour: canColor })
  if (text !== undefined) yield* Console.log(text)
  else if (empty !== undefined) yield* Console.error(printable(empty))
})
