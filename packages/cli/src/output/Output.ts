/**
 * The only module that prints. Standard output contains only the result; notes, warnings, questions and failures go to
 * standard error (docs/design/cli.md C4).
 *
 * Pitfall: printing the sentence for an empty list to standard output. `wc -l` would count it.
 */
import { Clock, Console, Context, Duration, Effect, Layer, Stdio, Stream } from "effect"
import { TerminalCapabilities } from "effect/cli"
import type { Explanation } from "../failures/explain.ts"
import { type Format, type NeedsFormat, OutputFormat } from "./OutputFormat.ts"
import { printable, renderTable, type Table } from "./table.ts"
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
    readonly answer: (answer: Answer) => Effect.Effect<void, never, NeedsFormat>
    /** One item of a stream: a line of JSON, a document of YAML, a line of text. */
    readonly item: (item: { readonly body: unknown; readonly line: string }) => Effect.Effect<void, never, NeedsFormat>
    /** Prints text unchanged: help topics and raw responses. */
    readonly text: (text: string) => Effect.Effect<void>
    readonly note: (sentence: string) => Effect.Effect<void>
    readonly warn: (sentence: string) => Effect.Effect<void>
    readonly failure: (explanation: Explanation) => Effect.Effect<void, never, NeedsFormat>
    /** Prints a question without a line feed; the user types after it. */
    readonly question: (sentence: string) => Effect.Effect<void>
    /**
     * Runs the effect. On a terminal, a spinner with the text `what` appears after 300 ms. A function is asked for each
     * frame, with the milliseconds since the start.
     */
    readonly waiting: <A, E, R>(
      what: string | ((elapsed: number) => string),
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

      return Output.of({
        answer: Effect.fnUntraced(function* ({ body, empty, table }) {
          const text = render(yield* OutputFormat, body, table)
          if (text !== undefined) yield* Console.log(text)
          else if (empty !== undefined) yield* note(empty)
        }),
        item: Effect.fnUntraced(function* ({ body, line }) {
          const format = yield* OutputFormat
          if (format === "json") yield* Console.log(JSON.stringify(body))
          else yield* Console.log(format === "yaml" ? `---\n${toYaml(body)}` : printable(line))
        }),
        text: (text) => Console.log(text),
        note,
        warn: (sentence) => Console.error(`${paint(33, "warning:")} ${printable(sentence)}`),
        failure: Effect.fnUntraced(function* (explanation) {
          yield* (yield* OutputFormat) === "json"
            ? Console.error(JSON.stringify(explanation.json))
            : Console.error(failureLines(paint(31, "error:"), explanation).join("\n"))
        }),
        question: (sentence) => raw(`${printable(sentence)} `),
        waiting: (what, effect) =>
          canAnimate && onTerminal ? Effect.scoped(Effect.andThen(Effect.forkScoped(spin(raw, what)), effect)) : effect
      })
    })
  )
}

const render = (format: Format, body: unknown, table: Table): string | undefined => {
  if (format === "json") return JSON.stringify(body, null, 2)
  return format === "yaml" ? toYaml(body) : renderTable(table)
}

const failureLines = (head: string, { code, hint, request_id, sentence }: Explanation): ReadonlyArray<string> => [
  `${head} ${printable(sentence)}`,
  ...(hint === undefined ? [] : [`  hint: ${printable(hint)}`]),
  ...(code === undefined
    ? []
    : [`  code: ${printable(code)}${request_id === undefined ? "" : ` · request: ${printable(request_id)}`}`])
]

const spinnerDelay = Duration.millis(300)
const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
const erase = "\r\u001b[K"

/** Runs until interrupted, then erases its line. */
const spin = (raw: (text: string) => Effect.Effect<void>, what: string | ((elapsed: number) => string)) =>
  Effect.gen(function* () {
    const begun = yield* Clock.currentTimeMillis
    yield* Effect.sleep(spinnerDelay)
    for (let turn = 0; ; turn++) {
      const text = typeof what === "string" ? what : what((yield* Clock.currentTimeMillis) - begun)
      yield* raw(`${erase}${frames[turn % frames.length]} ${printable(text)}`)
      yield* Effect.sleep("100 millis")
    }
  }).pipe(Effect.onInterrupt(() => raw(erase)))
