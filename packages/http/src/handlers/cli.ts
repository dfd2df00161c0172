/** Serves `CliLoginApi` from the core. */
import { Api } from "@narthex/api"
import { ApiKeys, CliLogin, InvalidCode, Principal } from "@narthex/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { problems } from "../toProblem.ts"

export const CliHandlers = HttpApiBuilder.group(
  Api,
  "cli",
  Effect.fn(function* (handlers) {
    const keys = yield* ApiKeys
    const login = yield* CliLogin
    return handlers.handleAll({
      authorize: Effect.fnUntraced(function* ({ payload }) {
        const caller = yield* Principal.session
        const scope = yield* problems(keys.resolveScope(caller.org_id, payload.scope ?? { type: "organization" }))
        const { capability = "read_write", code_challenge, expires_in_days = null, name, redirect_uri, state } = payload
        return yield* problems(
          login.authorize(caller, { capability, code_challenge, expires_in_days, name, redirect_uri, scope, state })
        )
      }),
      exchange: ({ payload: { code, code_verifier, redirect_uri } }) =>
        code === undefined || code_verifier === undefined || redirect_uri === undefined
          ? problems(new InvalidCode({}))
          : problems(login.exchange({ code, code_verifier, redirect_uri }))
    })
  })
)
