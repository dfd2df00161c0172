/**
 * `--jq <expression>`: jq itself (https://jqlang.org), compiled to WebAssembly, so that it runs where no jq is installed.
 * It is loaded for this flag only.
 */
import { Effect, Option } from "effect"
import { CliError, Flag, GlobalFlag } from "effect/cli"
import type { Jq } from "jq-wasm/inline"
import { NotFiltered } from "../failures/LocalFailure.ts"

/** JSON to what the expression makes of it: strings without quotes, other values as JSON in one line each. */
export type Filter = (json: string) => Effect.Effect<ReadonlyArray<string>, NotFiltered>

/** The exit code of jq for an expression that does not compile. */
const notCompiled = 3

const load = Effect.promise(async () => (await import("jq-wasm/inline")).loadJq())

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/**
 * Runs jq without the listeners of signals.
 *
 * Pitfall: to leave them. jq does not return to the event loop, so no signal could end an endless expression.
 */
const interruptible = <A>(run: () => A): A => {
  const heard = signals.map((signal) => [signal, process.listeners(signal)] as const)
  for (const signal of signals) process.removeAllListeners(signal)
  try {
    return run()
  } finally {
    for (const [signal, listeners] of heard) for (const listener of listeners) process.on(signal, listener)
  }
}

/** Characters. jq quotes values in what it says, which may be the whole answer. */
const longestReason = 300

const reasonOf = (stderr: string) => {
  const text = stderr.replace(/^jq: error(?: \([^)]*\))*:? */, "")
  return text.length > longestReason ? `${text.slice(0, longestReason)}…` : text
}

/**
 * A line of jq's output as it is printed.
 *
 * Pitfall: jq's own `-r`. The library removes white space at both ends of an output, where strings of it may be.
 */
const printed = (line: string): string => (line.startsWith('"') ? String(JSON.parse(line)) : line)

const filterBy =
  (jq: Jq, expression: string): Filter =>
  (json) =>
    Effect.suspend(() => {
      const { exitCode, stderr, stdout } = interruptible(() => jq.raw(json, expression, ["-c"]))
      if (exitCode !== 0) return Effect.fail(NotFiltered.because(reasonOf(stderr)))
      return Effect.succeed(stdout === "" ? [] : stdout.split("\n").map(printed))
    })

/** The first line of what jq says about an expression, in one sentence. */
const complaint = (stderr: string) => reasonOf(stderr).split("\n")[0]?.replace(/:$/, "") ?? ""

/** Compiles the expression, without input, so that a wrong one fails before a call. */
export const compile = (expression: string): Effect.Effect<Filter, CliError.CliError> =>
  Effect.flatMap(load, (jq) => {
    const { exitCode, stderr } = interruptible(() => jq.raw("", expression))
    return exitCode === notCompiled
      ? Effect.fail(
          new CliError.InvalidValue({
            option: "jq",
            value: expression,
            expected: `Expected an expression of jq: ${complaint(stderr)}`,
            kind: "flag"
          })
        )
      : Effect.succeed(filterBy(jq, expression))
  })

export const JqFilter = GlobalFlag.Setting("jq")({
  flag: Flag.String("jq").pipe(
    Flag.withMetavar("expression"),
    Flag.withDescription("Print what this jq expression makes of the JSON"),
    Flag.mapEffect(compile),
    Flag.optional,
    Flag.map(Option.getOrUndefined)
  )
})
