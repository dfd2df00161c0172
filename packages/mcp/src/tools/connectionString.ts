/** `get_connection_string`: shows a secret to the model, so it is there only where a person has switched it on. */
import { Effect, Redacted, Schema } from "effect"
import { Tool } from "effect/ai"
import { Caller } from "../access/Caller.ts"
import { DatabaseCredentials } from "../access/DatabaseCredentials.ts"
import { branchOf, isMain } from "../access/names.ts"
import { Refused } from "../access/Refused.ts"
import { adds } from "./hints.ts"
import { mark, marked } from "./marked.ts"
import { branchParameter, projectParameter } from "./parameters.ts"

export const getConnectionString = Tool.make("get_connection_string", {
  description:
    "Mints a database credential and shows its connection string, with the password. For main it only reads. It is in the transcript afterwards.",
  parameters: Schema.Struct({ project: projectParameter, branch: branchParameter }),
  success: marked(Schema.Struct({ connection_uri: Schema.String })),
  failure: Refused,
  dependencies: [Caller]
}).annotateMerge(adds)

export const makeConnectionStringHandlers = Effect.gen(function* () {
  const { uri } = yield* DatabaseCredentials
  return {
    get_connection_string: Effect.fn("get_connection_string")(function* (
      given: typeof getConnectionString.parametersSchema.Type
    ) {
      const branch = yield* branchOf(given.project, given.branch)
      const shown = yield* uri(branch, isMain(branch) ? "read_only" : "read_write")
      return mark({ connection_uri: Redacted.value(shown) })
    })
  }
})
