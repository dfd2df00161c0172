/** `narthex webhook list|get|update|delete|test|replay|deliveries`. `webhookSecrets.ts` has the commands that show a secret. */
import { EventId, type OrgId, type WebhookRecord } from "@narthex/api"
import { Effect, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { answered, everyPage, withBody } from "../connection/answers.ts"
import { type AuthenticatedApi, Connection } from "../connection/Connection.ts"
import { UsageMistake } from "../failures/LocalFailure.ts"
import { confirm } from "../input/confirm.ts"
import { given, partFlags, pastedFlag, yesFlag } from "../input/flags.ts"
import { ownOrganization } from "../names/organization.ts"
import { webhookNamed } from "../names/webhooks.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { instant, rows } from "../output/table.ts"
import { noteMore } from "../tables/noteMore.ts"
import { webhookFacts, webhookState } from "../tables/webhooks.ts"
import { labelFlag, typesFlag, typesOf, webhookArgument } from "./webhookFlags.ts"
import { listen } from "./webhookListen.ts"
import { webhookSecrets } from "./webhookSecrets.ts"

type Webhook = typeof WebhookRecord.Type

const list = Command.make("list", {}, () =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      const asked = Effect.flatMap(ownOrganization(api), ({ id }) =>
        everyPage("webhooks", (query) => api.client.api.webhooks.list({ params: { org_id: id }, query, ...withBody }))
      )
      const { body, value } = yield* output.waiting("Listing webhooks", asked)
      yield* output.answer({
        body,
        table: rows(
          ["id", "url", "label", "status", "types", "project"],
          ...value.map((webhook) => [
            webhook.id,
            webhook.url,
            webhook.label === "" ? "-" : webhook.label,
            webhookState(webhook),
            webhook.types.length === 0 ? "all" : webhook.types.join(","),
            webhook.project_id ?? "all"
          ])
        ),
        empty: "There are no webhooks."
      })
    })
  )
).pipe(
  Command.withDescription("List the webhooks of the organization"),
  Command.withExamples([{ command: "narthex webhook list" }])
)

/** The path of the webhook that the argument names. */
const pathOf = Effect.fnUntraced(function* (api: AuthenticatedApi, name: string) {
  const { id: org_id } = yield* ownOrganization(api)
  return { org_id, webhook_id: yield* webhookNamed(api, org_id, name) }
})

type Path = { readonly org_id: OrgId; readonly webhook_id: Webhook["id"] }

/** Makes a call on the named webhook, and prints the webhook. */
const showing = <Body extends { readonly webhook: Webhook }, E, R>(
  name: string,
  progress: string,
  call: (api: AuthenticatedApi, params: Path) => Effect.Effect<{ readonly body: unknown; readonly value: Body }, E, R>
) =>
  Effect.gen(function* () {
    const output = yield* Output
    const api = yield* (yield* Connection).authenticated
    const asked = Effect.flatMap(pathOf(api, name), (params) => call(api, params))
    const { body, value } = yield* output.waiting(progress, asked)
    yield* output.answer({ body, table: webhookFacts(value.webhook) })
    return value.webhook
  })

const get = Command.make("get", { webhook: webhookArgument }, ({ webhook }) =>
  reporting(
    showing(webhook, "Reading the webhook", ({ client }, params) =>
      answered(client.api.webhooks.get({ params, ...withBody }))
    )
  )
).pipe(
  Command.withDescription("Show a webhook, and how far its deliveries are"),
  Command.withExamples([{ command: "narthex webhook get billing" }])
)

const update = Command.make(
  "update",
  {
    webhook: webhookArgument,
    url: pastedFlag("url").pipe(Flag.withDescription("Another URL, which is tried at once"), Flag.optional),
    label: labelFlag,
    types: typesFlag,
    allTypes: Flag.Boolean("all-types").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Deliver events of every type"),
      Flag.withDefault(false)
    )
  },
  ({ allTypes, label, types, url, webhook }) =>
    reporting(
      Effect.gen(function* () {
        const wanted = typesOf(types)
        const payload = {
          ...given("url", url),
          ...given("label", label),
          ...(allTypes ? { types: [] } : wanted.length === 0 ? {} : { types: wanted })
        }
        if (Object.keys(payload).length === 0 || (allTypes && wanted.length > 0))
          return yield* new UsageMistake({
            message: "Say what changes: --url, --label, and either --type or --all-types.",
            hint: "narthex webhook update --help"
          })
        yield* showing(webhook, "Changing the webhook", ({ client }, params) =>
          answered(client.api.webhooks.update({ params, payload, ...withBody }))
        )
      })
    )
).pipe(
  Command.withDescription("Change the URL, the label or the types of a webhook"),
  Command.withExamples([{ command: "narthex webhook update billing --url https://hooks.example.com/new" }])
)

const remove = Command.make("delete", { webhook: webhookArgument, yes: yesFlag }, ({ webhook, yes }) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      const params = yield* pathOf(api, webhook)
      yield* confirm(`The webhook ${params.webhook_id} will be deleted, with what waits for it.`, yes)
      yield* output.waiting("Deleting the webhook", api.client.api.webhooks.delete({ params }))
      yield* output.note("The webhook is deleted.")
    })
  )
).pipe(
  Command.withDescription("Delete a webhook"),
  Command.withExamples([{ command: "narthex webhook delete billing --yes" }])
)

const test = Command.make("test", { webhook: webhookArgument }, ({ webhook }) =>
  reporting(
    Effect.gen(function* () {
      const { id } = yield* showing(webhook, "Testing the webhook", ({ client }, params) =>
        answered(client.api.webhooks.test({ params, ...withBody }))
      )
      yield* (yield* Output).note(`The answer of the receiver: narthex webhook deliveries ${id}`)
    })
  )
).pipe(
  Command.withDescription("Deliver an event of the type webhook.test.v1, behind those that wait"),
  Command.withExamples([{ command: "narthex webhook test billing" }])
)

const replay = Command.make(
  "replay",
  {
    webhook: webhookArgument,
    after: pastedFlag("after").pipe(
      Flag.withMetavar("event_id"),
      Flag.withDescription("Deliver everything behind this event again. Default: go on where the webhook is"),
      Flag.filter(Schema.is(EventId), () => "Expected an event id, 26 characters"),
      Flag.optional
    )
  },
  ({ after, webhook }) =>
    reporting(
      showing(webhook, "Replaying", ({ client }, params) =>
        answered(client.api.webhooks.replay({ params, payload: given("after", after), ...withBody }))
      )
    )
).pipe(
  Command.withDescription("Go on at once, also after a pause, from where the webhook is or behind an event"),
  Command.withExamples([
    { command: "narthex webhook replay billing" },
    { command: "narthex webhook replay billing --after 01M80M4CEC9X5B7D1F3H5J7K9M" }
  ])
)

const deliveries = Command.make(
  "deliveries",
  { webhook: webhookArgument, ...partFlags(50) },
  ({ cursor, limit, webhook }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const asked = Effect.flatMap(pathOf(api, webhook), (params) =>
          everyPage("deliveries", (query) => api.client.api.webhooks.deliveries({ params, query, ...withBody }), {
            limit,
            ...given("cursor", cursor)
          })
        )
        const { body, value } = yield* output.waiting("Reading the attempts", asked)
        yield* output.answer({
          body,
          table: rows(
            ["at", "event", "type", "attempt", "outcome", "status", "took", "error"],
            ...value.map((it) => [
              instant(it.attempted_at),
              it.event_id,
              it.event_type,
              it.attempt,
              it.outcome,
              it.status ?? "-",
              `${it.duration_ms} ms`,
              it.error ?? "-"
            ])
          ),
          empty: "Nothing was delivered in the last 7 days."
        })
        yield* noteMore(body)
      })
    )
).pipe(
  Command.withDescription("List the attempts to deliver, the newest first"),
  Command.withExamples([{ command: "narthex webhook deliveries billing --limit 10" }])
)

export const webhook = Command.make("webhook").pipe(
  Command.withDescription("Where the events of the organization are delivered"),
  Command.withSubcommands([list, get, ...webhookSecrets, update, remove, test, replay, deliveries, listen])
)
