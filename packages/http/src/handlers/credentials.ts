/** Serves the report of leaked keys from the core. */
import { Api } from "@narthex/api"
import { ApiKeys } from "@narthex/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { problems } from "../toProblem.ts"

/** Always 202, so that the answer does not reveal whether the secret was a key. */
export const CredentialsHandlers = HttpApiBuilder.group(
  Api,
  "credentials",
  Effect.fn(function* (handlers) {
    const keys = yield* ApiKeys
    return handlers.handleAll({
      report: ({ payload }) => (payload.secret === undefined ? Effect.void : problems(keys.report(payload.secret)))
    })
  })
)
