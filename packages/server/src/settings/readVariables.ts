/**
 * Reads the variables through Effect's Config, all of them, and collects what is wrong with any.
 *
 * A secret may stand in a file instead (`NAME_FILE`), as orchestrators hand them out. Set but empty counts as not set,
 * which is what `${NAME:-}` in a deployment file means.
 */
import { readFile } from "node:fs/promises"
import { Config, Effect, Option, Result } from "effect"
import type { Variable } from "./variables.ts"

type Variables = Readonly<Record<string, Variable<unknown>>>

/** The values by the same names; `undefined` when not given, or given wrongly. */
export type Values<V extends Variables> = { readonly [K in keyof V]: Value<V[K]> | undefined }
type Value<V> = V extends Variable<infer A> ? A : never

export interface Reading<V extends Variables> {
  readonly values: Values<V>
  /** The names of those that were given, rightly or wrongly. */
  readonly given: ReadonlySet<string>
  readonly mistakes: ReadonlyArray<string>
}

const textOf = (name: string) =>
  Config.option(Config.String(name)).pipe(
    Effect.map(Option.filter((text) => text !== "")),
    Effect.mapError((error) => `${name} cannot be read: ${error.message}.`)
  )

/** The text of a variable, or the sentence that says why it cannot be had. */
const given = Effect.fnUntraced(function* ({ name, secret }: Variable<unknown>) {
  const text = yield* textOf(name)
  if (!secret) return text
  const file = yield* textOf(`${name}_FILE`)
  if (Option.isNone(file)) return text
  if (Option.isSome(text)) return yield* Effect.fail(`${name} and ${name}_FILE are both set; give one of them.`)
  const content = yield* Effect.tryPromise({
    try: () => readFile(file.value, "utf8"),
    catch: (cause) => {
      const code = cause instanceof Error && "code" in cause ? cause.code : cause
      return `${name}_FILE names a file that cannot be read (${String(code)}).`
    }
  })
  const value = content.replace(/\r?\n$/, "")
  return value === "" ? yield* Effect.fail(`${name}_FILE names an empty file.`) : Option.some(value)
})

export const readVariables = Effect.fn("readVariables")(function* <const V extends Variables>(variables: V) {
  const values: Record<string, unknown> = {}
  const names = new Set<string>()
  const mistakes: Array<string> = []
  for (const [key, variable] of Object.entries(variables)) {
    const text = yield* Effect.result(given(variable))
    if (Result.isFailure(text)) {
      names.add(variable.name)
      mistakes.push(text.failure)
      continue
    }
    if (Option.isNone(text.success)) continue
    names.add(variable.name)
    const value = variable.form(text.success.value)
    if (Result.isSuccess(value)) values[key] = value.success
    else mistakes.push(`${variable.name} must be ${value.failure}.`)
  }
  // Each value was read by the form of its own variable, which the loop cannot say in types.
  const reading: Reading<V> = { values: values as Values<V>, given: names, mistakes }
  return reading
})
