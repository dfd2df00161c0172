/**
 * What a form said, as the body that the contract wants. The contract's own schema judges it before anything is sent,
 * and what it finds reads like the API's own refusal.
 */
import { Effect, Schema, SchemaIssue } from "effect"
import { ApiRefused } from "./ApiRefusal.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const segment = (key: PropertyKey | { readonly key: PropertyKey }): string | number => {
  const name = typeof key === "object" ? key.key : key
  return typeof name === "number" ? name : String(name)
}

export const payload = <A>(
  schema: Schema.ConstraintDecoder<A>,
  fields: Readonly<Record<string, unknown>>
): Effect.Effect<A, ApiRefused> =>
  Schema.decodeEffect(schema, { errors: "all" })(fields).pipe(
    Effect.mapError((error) => {
      const errors = format(error.issue).issues.map(({ message, path }) => ({
        path: (path ?? []).map(segment),
        message
      }))
      const [first] = errors
      const detail = first === undefined ? "The form is invalid." : `${first.path.join(".")}: ${first.message}.`
      return new ApiRefused({ status: 422, code: "invalid_request", detail, errors })
    })
  )

/** A whole number in a field, or what is there instead, for the schema to refuse. */
export const wholeNumber = (text: string): number => (/^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN)
