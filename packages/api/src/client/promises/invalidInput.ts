/** The error for an input that does not fit the contract. It names members and what was expected, never values. */
import { type Schema, SchemaIssue } from "effect"
import { clientFailure, type NarthexError } from "../../problems/NarthexError.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => (issue._tag === "UnexpectedKey" ? "There is no such member" : SchemaIssue.defaultLeafHook(issue))
})

const segment = (key: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof key === "object" ? key.key : key)

/** `why`: a sentence, or what a schema found. */
export const invalidInput = (why: string | Schema.SchemaError): NarthexError<"invalid_input"> => {
  if (typeof why === "string") return clientFailure("invalid_input", { about: why })
  const errors = format(why.issue).issues.map(({ message, path }) => ({ path: (path ?? []).map(segment), message }))
  const [first] = errors
  const at = first === undefined || first.path.length === 0 ? "" : `${first.path.join(".")}: `
  const about = first === undefined ? undefined : `${at}${first.message}.`
  return clientFailure("invalid_input", { ...(about === undefined ? {} : { about }), body: { errors } })
}
