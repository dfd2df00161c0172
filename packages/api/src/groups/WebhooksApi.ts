/** The endpoints of an organization's webhooks (docs/design/webhooks.md). */
import { changes, OrgId, WebhookId, webhookLimits } from "@narthex/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ConflictProblem, QuotaExceededProblem } from "../problems/Problems.ts"
import { Authentication } from "../rules/Authentication.ts"
import { endpointRules } from "../rules/endpointRules.ts"
import { PolicyCheck } from "../rules/PolicyCheck.ts"
import { AnyProjectId, GraceSeconds, Label, optionalBody, optionalNullable, Pasted } from "../schemas/members.ts"
import { Pagination, pageQuery } from "../schemas/Paging.ts"
import { created, ShownSecret, WebhookDeliveryRecord, WebhookRecord } from "../schemas/Shapes.ts"

/** Types that no event has yet are taken: a newer version may have them. */
const EventTypes = Schema.Array(Schema.String.check(Schema.isPattern(/^[a-z0-9_.]{1,100}$/u))).check(
  Schema.isMaxLength(webhookLimits.types)
)

export const CreateWebhook = Schema.Struct({
  url: Pasted,
  label: optionalNullable(Label),
  types: optionalNullable(EventTypes),
  project_id: optionalNullable(AnyProjectId)
})
export type CreateWebhook = typeof CreateWebhook.Type

export const ChangeWebhook = Schema.Struct({
  url: optionalNullable(Pasted),
  label: optionalNullable(Label),
  types: optionalNullable(EventTypes)
})

export const RotateWebhookSecret = Schema.Struct({ grace_seconds: optionalNullable(GraceSeconds) })
export const ReplayWebhook = Schema.Struct({ after: optionalNullable(Pasted) })

const organization = { org_id: OrgId }
const params = { ...organization, webhook_id: WebhookId }
const listPath = "/v1/orgs/:org_id/webhooks"
const path = `${listPath}/:webhook_id` as const
const wrapped = Schema.Struct({ webhook: WebhookRecord })
const withSecret = created(Schema.Struct({ webhook: WebhookRecord, secret: ShownSecret }))
const manages = changes("admin", "manage_webhooks", "organization", { reach: "organization" })
const managesOne = { ...manages, target: "webhook" } as const
const locatedAt = "/v1/orgs/:org_id/webhooks/{webhook.id}"
const answer = "The webhook."

export class WebhooksApi extends HttpApiGroup.make("webhooks")
  .add(
    HttpApiEndpoint.get("list", listPath, {
      params: organization,
      query: pageQuery,
      success: Schema.Struct({ webhooks: Schema.Array(WebhookRecord), pagination: Pagination })
    }).annotateMerge(
      endpointRules(manages, {
        summary: "List webhooks",
        text: "The webhooks of the organization, without their secrets.",
        answer: "A page of webhooks."
      })
    ),
    HttpApiEndpoint.post("create", listPath, {
      params: organization,
      payload: CreateWebhook,
      success: withSecret,
      error: [ConflictProblem, QuotaExceededProblem]
    }).annotateMerge(
      endpointRules(manages, {
        summary: "Create a webhook; its signing secret is shown once",
        act: "webhook.created",
        text: "Delivers the events from now on to the URL, in their order, by Standard Webhooks. The URL begins with `https://` and leads to an address of the public internet.",
        answer: "The webhook, and its secret, which is shown this once.",
        strictBody: true,
        showsSecret: true,
        locatedAt,
        limitedBy: "creation"
      })
    ),
    HttpApiEndpoint.get("get", path, { params, success: wrapped }).annotateMerge(
      endpointRules(managesOne, { summary: "Read a webhook", text: "Without its secret.", answer })
    ),
    HttpApiEndpoint.patch("update", path, { params, payload: ChangeWebhook, success: wrapped }).annotateMerge(
      endpointRules(managesOne, {
        summary: "Change the URL, label or types of a webhook",
        act: "webhook.changed",
        text: "Members that are left out stay as they are. Another URL is tried at once.",
        answer,
        strictBody: true
      })
    ),
    HttpApiEndpoint.delete("delete", path, { params, success: HttpApiSchema.NoContent }).annotateMerge(
      endpointRules(managesOne, {
        summary: "Delete a webhook",
        act: "webhook.deleted",
        text: "Nothing more is delivered. Its log of attempts is deleted, too.",
        answer: "The webhook is deleted."
      })
    ),
    HttpApiEndpoint.post("rotateSecret", `${path}/rotate-secret`, {
      params,
      payload: optionalBody(RotateWebhookSecret, {}),
      success: withSecret,
      error: ConflictProblem
    }).annotateMerge(
      endpointRules(managesOne, {
        summary: "Give the webhook a new signing secret",
        act: "webhook.secret_rotated",
        text: "For `grace_seconds`, a day unless it says otherwise, deliveries have a signature of the former secret, too.",
        answer: "The webhook, and its new secret, which is shown this once.",
        showsSecret: true,
        locatedAt,
        limitedBy: "creation"
      })
    ),
    HttpApiEndpoint.post("test", `${path}/test`, { params, success: wrapped, error: ConflictProblem }).annotateMerge(
      endpointRules(managesOne, {
        summary: "Deliver an event of the type webhook.test.v1",
        act: "webhook.tested",
        text: "The event takes its place behind those that wait, and reaches this webhook alone, whatever its types are. The attempts of the webhook say what the receiver answered. A paused webhook is refused with 409.",
        answer,
        limitedBy: "creation"
      })
    ),
    HttpApiEndpoint.post("replay", `${path}/replay`, {
      params,
      payload: optionalBody(ReplayWebhook, {}),
      success: wrapped
    }).annotateMerge(
      endpointRules(managesOne, {
        summary: "Go on at once, from where the webhook is or from another position",
        act: "webhook.replayed",
        text: "A paused webhook is active again. With `after`, the events behind that one are delivered, also those that were delivered before. If the log does not have all of them any more, the first delivery is `resume.gap.v1`.",
        answer,
        limitedBy: "creation"
      })
    ),
    HttpApiEndpoint.get("deliveries", `${path}/deliveries`, {
      params,
      query: pageQuery,
      success: Schema.Struct({ deliveries: Schema.Array(WebhookDeliveryRecord), pagination: Pagination })
    }).annotateMerge(
      endpointRules(managesOne, {
        summary: "List the attempts of a webhook",
        text: "The newest 200 attempts to deliver, for 7 days, with the status and the begin of each answer.",
        answer: "A page of attempts."
      })
    )
  )
  .middleware(PolicyCheck)
  .middleware(Authentication)
  .annotateMerge(
    OpenApi.annotations({ title: "Webhooks", description: "Where the events of an organization are delivered." })
  ) {}
