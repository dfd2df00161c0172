/** One variable of the environment: its name, its form, its default and its meaning. Everything else derives from it. */
import type { Result } from "effect"
import type { Form, TextForm } from "./forms.ts"

export interface Variable<A> {
  readonly name: string
  /** The value of a text, or what the text must be instead, to stand after "must be". */
  readonly read: (text: string) => Result.Result<A, string>
  /** If true, the value may also be given as a file (`…_FILE`) and is never shown. */
  readonly secret: boolean
  /** The value when the variable is not given. `null`: no value; `fallback` says in words what happens. */
  readonly default: A
  /** The default as people read it. */
  readonly fallback: string
  readonly meaning: string
}

/** A variable with a default value, whose text derives from the value. */
export const variable = <A>(name: string, form: TextForm<A>, value: NoInfer<A>, meaning: string): Variable<A> => ({
  name,
  read: form.read,
  secret: false,
  default: value,
  fallback: form.write(value),
  meaning
})

/** A variable without a value unless it is given. `fallback` says what happens then. */
export const optional = <A>(name: string, form: Form<A>, fallback: string, meaning: string): Variable<A | null> => ({
  name,
  read: form.read,
  secret: false,
  default: null,
  fallback,
  meaning
})

/** An optional variable whose value is secret. */
export const secret = <A>(name: string, form: Form<A>, fallback: string, meaning: string): Variable<A | null> => ({
  ...optional(name, form, fallback, meaning),
  secret: true
})

/** Variables by the names of their settings, in groups. */
export interface Table {
  readonly [name: string]: Variable<unknown> | Table
}

export const isVariable = (entry: Variable<unknown> | Table): entry is Variable<unknown> =>
  typeof entry["meaning"] === "string"

/** The variables of a table, in its order. */
export const variablesOf = (table: Table): ReadonlyArray<Variable<unknown>> =>
  Object.values(table).flatMap((entry) => (isVariable(entry) ? [entry] : variablesOf(entry)))

/** The values of a table, under the same names. */
export type Values<T extends Table> = { readonly [K in keyof T]: Value<T[K]> }
type Value<E> = E extends Variable<infer A> ? A : E extends Table ? Values<E> : never
