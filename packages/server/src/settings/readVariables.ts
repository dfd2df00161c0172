/**
 * Reads the variables of a table through Effect's Config, all of them, and collects the mistakes in any.
 *
 * A secret may be in a file instead (`NAME_FILE`), as orchestrators hand it out. A variable that is set but empty counts
 * as not set, which is what `${NAME:-}` in a deployment file means.
 */
import { readFile } from "node:fs/promises"
import { Config, Effect, Option, Result } from "effect"
import { isVariable, type Table, type Values, type Variable } from "./Variable.ts"

export interface Reading<T extends Table> {
  /** A variable that is not given has its default. A malformed one also has it, and adds a mistake. */
  readonly values: Values<T>
  /** The names of the variables that were given, well-formed or not. */
  readonly given: ReadonlySet<string>
  /** Sentences; none holds the value of a variable. */
  readonly mistakes: ReadonlyArray<string>
}

interface Found {
  readonly given: Set<string>
  readonly mistakes: Array<string>
}

const textOf = (name: string) =>
  Config.option(Config.String(name)).pipe(
    Effect.map(Option.filter((text) => text !== "")),
    Effect.mapError((error) => `${name} cannot be read: ${error.message}.`)
  )

/** The text of a variable. Fails with a sentence if it cannot be read. */
const givenText = Effect.fnUntraced(function* ({ name, secret }: Variable<unknown>) {
  const text = yield* textOf(name)
  if (!secret) return text
  const file = yield* textOf(`${name}_FILE`)
  if (Option.isNone(file)) return text
  if (Option.isSome(text)) return yield* Effect.fail(`${name} and ${name}_FILE are both set; set only one of them.`)
  const content = yield* Effect.tryPromise({
    try: () => readFile(file.value, "utf8"),
    catch: (cause) => {
      const code = cause instanceof Error && "code" in cause ? cause.code : cause
      return `${name}_FILE names a file that cannot be read (${String(code)}).`
    }
  })
  // Editors on Windows put a byte order mark before the text.
  const value = content.replace(/^\ufeff/, "").replace(/\r?\n$/, "")
  return value === "" ? yield* Effect.fail(`${name}_FILE names an empty file.`) : Option.some(value)
})

const readVariable = Effect.fnUntraced(function* (variable: Variable<unknown>, { given, mistakes }: Found) {
  const text = yield* Effect.result(givenText(variable))
  if (Result.isFailure(text)) {
    given.add(variable.name)
    mistakes.push(text.failure)
    return variable.default
  }
  if (Option.isNone(text.success)) return variable.default
  given.add(variable.name)
  const value = variable.read(text.success.value)
  if (Result.isSuccess(value)) return value.success
  mistakes.push(`${variable.name} must be ${value.failure}.`)
  return variable.default
})

const readTable = (table: Table, found: Found): Effect.Effect<Record<string, unknown>> =>
  Effect.gen(function* () {
    const values: Record<string, unknown> = {}
    for (const [name, entry] of Object.entries(table))
      values[name] = yield* isVariable(entry) ? readVariable(entry, found) : readTable(entry, found)
    return values
  })

export const readVariables = Effect.fn("readVariables")(function* <const T extends Table>(table: T) {
  const found: Found = { given: new Set(), mistakes: [] }
  const values = yield* readTable(table, found)
  // Each value was read by its own variable and stands under its name, which the loop cannot say in types.
  const reading: Reading<T> = { values: values as Values<T>, ...found }
  return reading
})
