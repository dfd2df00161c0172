/**
 * The only module that prints. Standard output contains only the result; notes, warnings, questions and failures go to
 * standard error (docs/design/cli.md C4).
 *
 * Pitfall: printing the sentence for an empty list to standard output. `wc -l` would count it.
 */
import { Clock, Console, Context, Duration, Effect, Layer, Stdio, Stream } from "effect"
import { TerminalCapabilities } from "effect/cli"
import type { Explanation } from "../failures/explain.ts"
import type { NotFiltered } from "../failures/LocalFailure.ts"
import { failureText } from "./failureText.ts"
import { inOneRow, type Progress } from "./inOneRow.ts"
import { type Filter, JqFilter } from "./JqFilter.ts"
import { JsonFields, type NeedsFormat, OutputFormat } from "./OutputFormat.ts"
import { printTable } from "./printTable.ts"
import { NoteColumns, ScreenColumns } from "./ScreenColumns.ts"
import { selectFields } from "./selectFields.ts"
import { printable, printableLines, type Table } from "./table.ts"
import { cut } from "./textWidth.ts"
import { toYaml } from "./yaml.ts"

export interface Answer {
  /** The body of the API's response, for json and yaml. */
  readonly body: unknown
  readonly table: Table
  /** The sentence on standard error for a table without rows. */
  readonly empty?: string
}

export class Output extends Context.Service<
  Output,
  {
    readonly answer: (answer: Answer) => Effect.Effect<void, NotFiltered, NeedsFormat>
    /** Whether an answer is printed as a table, and not in a format. */
    readonly printsTable: Effect.Effect<boolean, never, NeedsFormat>
    /**
     * One item of a stream: a line of JSON, a document of YAML, a line of text. `row`: the line of a terminal, which is
     * cut to its width.
     */
    readonly item: (item: {
      readonly body: unknown
      readonly line: string
      readonly row: Effect.Effect<string>
    }) => Effect.Effect<void, NotFiltered, NeedsFormat>
    /** Prints the text of this program unchanged: help topics, scripts. */
    readonly text: (text: string) => Effect.Effect<void>
    /** Prints what a server sent: unchanged to a pipe, and to a terminal without characters that control it. */
    readonly foreign: (text: string) => Effect.Effect<void>
    readonly note: (sentence: string) => Effect.Effect<void>
    readonly warn: (sentence: string) => Effect.Effect<void>
    readonly failure: (explanation: Explanation) => Effect.Effect<void, never, NeedsFormat>
    /** Prints a question without a line feed; the user types after it. */
    readonly question: (sentence: string) => Effect.Effect<void>
    /** Ends the line of a question that was answered without Enter. */
    readonly endLine: Effect.Effect<void>
    /**
     * Runs the effect. On a terminal, a spinner with the text `what` appears after 300 ms, in one row. A function is
     * called for each frame, with the milliseconds since the start.
     */
    readonly waiting: <A, E, R>(
      what: string | ((elapsed: number) => Progress),
      effect: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E, R>
  }
>()("@narthex/cli/Output") {
  static readonly layer: Layer.Layer<Output, never, Stdio.Stdio> = Layer.effect(
    Output,
    Effect.gen(function* () {
      const stdio = yield* Stdio.Stdio
      const { canAnimate, canColor } = yield* TerminalCapabilities.TerminalCapabilities
      const onTerminal = yield* stdio.stderrIsTerminal
      const paint = (code: number, text: string) => (canColor && onTerminal ? `\u001b[${code}m${text}\u001b[0m` : text)
      /** Writes without a line feed. A closed standard error is ignored. */
      const raw = (text: string) => Effect.ignore(Stream.run(Stream.succeed(text), stdio.stderr()))
      const note = (sentence: string) => Console.error(printable(sentence))

      const warn = (sentence: string) => Console.error(`${paint(33, "warning:")} ${printable(sentence)}`)

      /** `--json` chooses fields, and JSON unless the format is YAML. `--jq` is JSON in any format. */
      const chosen = Effect.gen(function* () {
        const fields = yield* JsonFields
        const filter = yield* JqFilter
        const format = yield* OutputFormat
        const asJson = filter !== undefined || (fields.length > 0 && format === "table")
        return { fields, filter, format: asJson ? "json" : format } as const
      })

      const foreign = Effect.fnUntraced(function* (text: string) {
        yield* Console.log((yield* stdio.stdoutIsTerminal) ? printableLines(text) : text)
      })

      /** An expression that makes nothing prints nothing, and one that makes empty text an empty line. */
      const filtered = Effect.fnUntraced(function* (filter: Filter, value: unknown) {
        const lines = yield* filter(JSON.stringify(value))
        if (lines.length > 0) yield* foreign(lines.join("\n"))
      })

      /** The fields that the user chose. A field that no item has is `null`, with a warning. */
      const selected = Effect.fnUntraced(function* (body: unknown, fields: ReadonlyArray<string>) {
        if (fields.length === 0) return body
        const { known, missing, value } = selectFields(body, fields)
        if (missing.length > 0)
          yield* warn(`The response has no field ${missing.join(", ")}. It has ${known.join(", ")}.`)
        return value
      })

      return Output.of({
        answer: Effect.fnUntraced(function* ({ body, empty, table }) {
          const { fields, filter, format } = yield* chosen
          if (format !== "table") {
            const value = yield* selected(body, fields)
            if (filter !== undefined) return yield* filtered(filter, value)
            return yield* foreign(format === "json" ? JSON.stringify(value, null, 2) : toYaml(value))
          }
          if (table._tag === "Raw") return yield* foreign(table.text)
          yield* Effect.provideService(printTable(table, empty), Stdio.Stdio, stdio)
        }),
        printsTable: Effect.map(chosen, ({ format }) => format === "table"),
        item: Effect.fnUntraced(function* ({ body, line, row }) {
          const { fields, filter, format } = yield* chosen
          if (format === "table") {
            if (!(yield* stdio.stdoutIsTerminal)) return yield* Console.log(printable(line))
            return yield* Console.log(cut(printable(yield* row), (yield* ScreenColumns)() ?? Number.POSITIVE_INFINITY))
          }
          const value = fields.length === 0 ? body : selectFields(body, fields).value
          if (filter !== undefined) return yield* filtered(filter, value)
          yield* foreign(format === "json" ? JSON.stringify(value) : `---\n${toYaml(value)}`)
        }),
        text: (text) => Console.log(text),
        foreign,
        note,
        warn,
        failure: Effect.fnUntraced(function* (explanation) {
          const { format } = yield* chosen
          yield* Console.error(failureText(explanation, format, canColor && onTerminal))
        }),
        question: (sentence) => raw(`${printable(sentence)} `),
        endLine: raw("\n"),
        waiting: (what, effect) =>
          canAnimate && onTerminal ? Effect.scoped(Effect.andThen(Effect.forkScoped(spin(raw, what)), effect)) : effect
      })
    })
  )
}

const spinnerDelay = Duration.millis(300)
const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
const erase = "\r\u001b[K"

/**
 * Runs until interrupted, then erases its line.
 *
 * Pitfall: a line that is as wide as the terminal or wider. It takes several rows, of which only the last is erased.
 */
const spin = (raw: (text: string) => Effect.Effect<void>, what: string | ((elapsed: number) => Progress)) =>
  Effect.gen(function* () {
    const columns = yield* NoteColumns
    const begun = yield* Clock.currentTimeMillis
    yield* Effect.sleep(spinnerDelay)
    for (let turn = 0; ; turn++) {
      const progress = typeof what === "string" ? what : what((yield* Clock.currentTimeMillis) - begun)
      yield* raw(`${erase}${frames[turn % frames.length]} ${inOneRow(progress, columns())}`)
      yield* Effect.sleep("100 millis")
    }
  }).pipe(Effect.onInterrupt(() => raw(erase)))
