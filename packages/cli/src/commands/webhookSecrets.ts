/** `narthex webhook create|rotate-secret`, which show a signing secret. */
import { GraceSeconds, type WebhookRecord } from "@narthex/api"
import { Effect, Option, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { answered, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { Stopped } from "../failures/LocalFailure.ts"
import { confirm } from "../input/confirm.ts"
import { durationFlag, given, onlyProjectFlag, pastedArgument, yesFlag } from "../input/flags.ts"
import { ownOrganization } from "../names/organization.ts"
import { projectNamed } from "../names/projects.ts"
import { webhookNamed } from "../names/webhooks.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { facts } from "../output/table.ts"
import { webhookPairs } from "../tables/webhooks.ts"
import { labelFlag, typesFlag, typesOf, webhookArgument } from "./webhookFlags.ts"

interface Shown {
  readonly body: unknown
  readonly value: { readonly webhook: typeof WebhookRecord.Type; readonly secret: Redacted.Redacted | null }
}

/** Prints the webhook with its secret. A replayed answer has none. */
const show = Effect.fnUntraced(function* ({ body, value: { secret, webhook } }: Shown) {
  const output = yield* Output
  if (secret === null)
    return yield* new Stopped({
      message: `The webhook ${webhook.id} has a new secret, but the answer with it was lost.`,
      hint: `narthex webhook rotate-secret ${webhook.id}`
    })
  yield* output.answer({ body, table: facts(...webhookPairs(webhook), ["secret", Redacted.value(secret)]) })
  yield* output.note("The secret is shown only now.")
})

const create = Command.make(
  "create",
  {
    url: pastedArgument("url").pipe(Argument.withDescription("Where events are delivered: https://…")),
    label: labelFlag,
    types: typesFlag,
    project: onlyProjectFlag
  },
  ({ label, project, types, url }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const asked = Effect.gen(function* () {
          const { id: org_id } = yield* ownOrganization(api)
          const project_id = Option.isSome(project)
            ? Option.some(yield* projectNamed(api, { name: project.value }))
            : Option.none()
          const payload = { url, ...given("label", label), types: typesOf(types), ...given("project_id", project_id) }
          return yield* answered(api.client.api.webhooks.create({ params: { org_id }, payload, ...withBody }))
        })
        yield* show(yield* output.waiting("Creating the webhook", asked))
      })
    )
).pipe(
  Command.withDescription("Have events delivered to a URL, signed by Standard Webhooks"),
  Command.withExamples([
    { command: "narthex webhook create https://hooks.example.com/narthex --label billing" },
    { command: "narthex webhook create https://hooks.example.com/ops --type operation.updated.v1 --project shop" }
  ])
)

const rotate = Command.make(
  "rotate-secret",
  {
    webhook: webhookArgument,
    grace: durationFlag("grace", GraceSeconds).pipe(
      Flag.withDescription("How long deliveries have a signature of the former secret, too. Default: 24h"),
      Flag.optional
    ),
    yes: yesFlag
  },
  ({ grace, webhook, yes }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const { id: org_id } = yield* ownOrganization(api)
        const params = { org_id, webhook_id: yield* webhookNamed(api, org_id, webhook) }
        yield* confirm(`The webhook ${params.webhook_id} gets a new signing secret.`, yes)
        const payload = given("grace_seconds", grace)
        const asked = answered(api.client.api.webhooks.rotateSecret({ params, payload, ...withBody }))
        yield* show(yield* output.waiting("Rotating the secret", asked))
      })
    )
).pipe(
  Command.withDescription("Give a webhook a new signing secret"),
  Command.withExamples([{ command: "narthex webhook rotate-secret billing --grace 1h --yes" }])
)

/** The commands that show a secret, for `webhooks.ts`. */
export const webhookSecrets = [create, rotate] as const
