/** Serves `ApiKeysApi` from the core. */
import { Api, type CreateApiKey, type PageQuery } from "@narthex/api"
import { ApiKeys, Principal, Target } from "@narthex/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { problems } from "../toProblem.ts"
import { pageOf } from "./records.ts"

export const ApiKeysHandlers = HttpApiBuilder.group(
  Api,
  "apiKeys",
  Effect.fn(function* (handlers) {
    const keys = yield* ApiKeys

    const list = Effect.fnUntraced(function* ({ query }: { readonly query: PageQuery }) {
      const page = yield* pageOf(query)
      const { items, next_cursor } = yield* problems(keys.list(yield* Principal, page))
      return { api_keys: items, pagination: { next_cursor } }
    })

    const create = Effect.fnUntraced(function* ({ payload }: { readonly payload: CreateApiKey }) {
      const caller = yield* Principal.session
      const scope = yield* problems(keys.resolveScope(caller.org_id, payload.scope ?? { type: "organization" }))
      const { capability = "read_write", expires_in_days = null, name } = payload
      return yield* problems(keys.create(caller, { name, capability, scope, expires_in_days }))
    })

    const revoke = Effect.fnUntraced(function* () {
      const { key } = yield* Target.apiKey
      return yield* problems(keys.revoke(yield* Principal, key.id))
    })

    return handlers.handleAll({
      list,
      listBare: list,
      create,
      createBare: create,
      get: Effect.fnUntraced(function* () {
        const { key } = yield* Target.apiKey
        return { api_key: yield* problems(keys.read(key)) }
      }),
      rotate: Effect.fnUntraced(function* ({ payload }) {
        const caller = yield* Principal.session
        return yield* problems(keys.rotate(caller, yield* Target.apiKey, payload.grace_seconds ?? 0))
      }),
      revoke,
      revokeSelf: revoke
    })
  })
)
