/**
 * `--jq <expression>`: jq itself (https://jqlang.org), compiled to WebAssembly, so that it runs where no jq is installed.
 * It is loaded for this flag only.
 */
import { Effect, Option } from "effect"
import { CliError, Flag, GlobalFlag } from "effect/cli"
import type { Jq } from "jq-wasm/inline"
import { NotFiltered } from "../failures/LocalFailure.ts"

/** JSON to the lines that the expression makes of it: strings without quotes, other values in one line each. */
export type Filter = (json: string) => Effect.Effect<string, NotFiltered>

/** Its exit code for an expression that it cannot compile. */
const notCompiled = 3

const load = Effect.promise(async () => (await import("jq-wasm/inline")).loadJq())

/**
 * Runs jq without the listeners of Ctrl-C.
 *
 * Pitfall: to leave them. jq does not return to the event loop, so an endless expression could not be interrupted.
 */
const interruptible = <A>(run: () => A): A => {
  const listeners = process.listeners("SIGINT")
  process.removeAllListeners("SIGINT")
  try {
    return run()
  } finally {
    for (const listener of listeners) process.on("SIGINT", listener)
  }
}

const withoutPrefix = (stderr: string) => stderr.trim().replace(/^jq: error(?: \(at [^)]*\))?: /, "")

const filterBy =
  (jq: Jq, expression: string): Filter =>
  (json) =>
    Effect.suspend(() => {
      const { exitCode, stderr, stdout } = interruptible(() => jq.raw(json, expression, ["-r", "-c"]))
      return exitCode === 0 ? Effect.succeed(stdout) : Effect.fail(NotFiltered.because(withoutPrefix(stderr)))
    })

/** The first line of what jq says about an expression, in one sentence. */
const complaint = (stderr: string) => withoutPrefix(stderr).split("\n")[0]?.replace(/:$/, "") ?? ""

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
