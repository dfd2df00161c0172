/** Serves `WebhooksApi` from the core. */
import { Api } from "@narthex/api"
import { Principal, Webhooks } from "@narthex/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { problems } from "../toProblem.ts"
import { pageOf } from "./records.ts"

/** How long deliveries have a signature of the former secret, in seconds. */
const defaultGrace = 86_400

export const WebhooksHandlers = HttpApiBuilder.group(
  Api,
  "webhooks",
  Effect.fn(function* (handlers) {
    const webhooks = yield* Webhooks
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const page = yield* pageOf(query)
        const { items, next_cursor } = yield* problems(webhooks.list(yield* Principal, page))
        return { webhooks: items, pagination: { next_cursor } }
      }),
      create: Effect.fnUntraced(function* ({ payload: { label = "", project_id = null, types = [], url } }) {
        return yield* problems(webhooks.create(yield* Principal, { url, label, types, project_id }))
      }),
      get: Effect.fnUntraced(function* ({ params }) {
        return { webhook: yield* problems(webhooks.read(yield* Principal, params.webhook_id)) }
      }),
      update: Effect.fnUntraced(function* ({ params, payload }) {
        return { webhook: yield* problems(webhooks.change(yield* Principal, params.webhook_id, payload)) }
      }),
      delete: ({ params }) =>
        Effect.flatMap(Principal, (caller) => problems(webhooks.remove(caller, params.webhook_id))),
      rotateSecret: Effect.fnUntraced(function* ({ params, payload: { grace_seconds = defaultGrace } }) {
        return yield* problems(webhooks.rotate(yield* Principal, params.webhook_id, grace_seconds))
      }),
      test: Effect.fnUntraced(function* ({ params }) {
        return { webhook: yield* problems(webhooks.test(yield* Principal, params.webhook_id)) }
      }),
      replay: Effect.fnUntraced(function* ({ params, payload: { after = null } }) {
        return { webhook: yield* problems(webhooks.replay(yield* Principal, params.webhook_id, after)) }
      }),
      deliveries: Effect.fnUntraced(function* ({ params, query }) {
        const page = yield* pageOf(query)
        const { items, next_cursor } = yield* problems(webhooks.deliveries(yield* Principal, params.webhook_id, page))
        return { deliveries: items, pagination: { next_cursor } }
      })
    })
  })
)
