/** The parameters that several tools share, with the texts that the model reads. */
import { Schema } from "effect"

export const projectParameter = Schema.String.annotate({ description: "The id or the exact name of the project." })

export const branchParameter = Schema.String.annotate({ description: "The id or the exact name of the branch." })

export const sqlParameter = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(50_000)).annotate({
  description: "One statement of SQL. Several commands fit into one DO block."
})
