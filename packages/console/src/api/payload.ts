/**
 * Turns the fields of a form into a request body of the contract. The contract's schema checks them before anything is
 * sent, and its findings take the same form as a refusal of the API: 422 `invalid_request` with an error per member.
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

/** The whole number in a field, else `NaN`, which the schema refuses. */
export const wholeNumber = (text: string): number => (/^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN)
