/** Why a tool refuses: the rule, a sentence, and what would be allowed instead. It is the text that the model reads. */
import { Schema } from "effect"

export class Refused extends Schema.TaggedError<Refused>()("Refused", {
  /** A code of the API's problems, a SQLSTATE, or a rule of docs/design/mcp.md. */
  rule: Schema.String,
  reason: Schema.String,
  /** The calls that the caller may make instead. */
  allowed: Schema.String
}) {
  override get message() {
    return `Refused by rule ${this.rule}. ${this.reason} Allowed: ${this.allowed}`
  }
}
