/** The webhooks that a command names, by id, label or URL. */
import { type OrgId, parseWebhookId } from "@narthex/api"
import { Effect, Option } from "effect"
import { withBody } from "../connection/answers.ts"
import type { AuthenticatedApi } from "../connection/Connection.ts"
import { type Kind, objectsOf, resolve } from "./resolve.ts"

const webhooks: Kind = { one: "webhook", many: "webhooks", list: "narthex webhook list" }

/** The id of the webhook. */
export const webhookNamed = Effect.fnUntraced(function* ({ client }: AuthenticatedApi, org_id: OrgId, name: string) {
  const id = parseWebhookId(name)
  if (Option.isSome(id)) return id.value
  const listed = yield* objectsOf(
    "webhooks",
    (query) => client.api.webhooks.list({ params: { org_id }, query, ...withBody }),
    ({ id, label, url }) => ({ id, names: label === "" ? [url] : [label, url] })
  )
  return (yield* resolve(webhooks, { name }, listed)).id
})
