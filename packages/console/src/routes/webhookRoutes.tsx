/** Webhooks: list, create, the page of one with its attempts, change, test, replay, rotate, delete. */
import { ChangeWebhook, CreateWebhook, parseOrgId, parseWebhookId, ReplayWebhook } from "@narthex/api"
import { Effect, Redacted } from "effect"
import { type ApiFailure, type ApiRefused, calling, idOrNotFound, refusedWith } from "../api/ApiRefusal.ts"
import { callOnce, newFormToken } from "../api/formToken.ts"
import { payload } from "../api/payload.ts"
import type { FieldError } from "../components/ErrorSummary.tsx"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { type NoticeName, noticeIn, withNotice } from "../requests/notices.ts"
import { inOrganization, type Visit } from "../requests/Visit.ts"
import { SecretPage } from "../views/Secret.tsx"
import { WebhookPage } from "../views/Webhook.tsx"
import { type WebhookDraft, type WebhookShown, WebhooksPage } from "../views/Webhooks.tsx"
import { page, seeOther } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

/** The number of attempts on a page. */
const shown = 20

interface State {
  readonly status: number
  readonly draft?: WebhookDraft
  readonly after?: string
  readonly errors?: ReadonlyArray<FieldError>
  readonly problem?: string
}

const draftIn = (form: Form): WebhookDraft => ({
  url: form.text("url"),
  label: form.text("label"),
  types: form.text("types")
})

const draftOf = ({ label, types, url }: WebhookShown): WebhookDraft => ({ url, label, types: types.join(" ") })

const bodyOf = ({ label, types, url }: WebhookDraft) => ({
  url,
  label,
  types: types.split(/[\s,]+/).filter((type) => type !== "")
})

/** The sentence of the API says which URL or position it takes. */
const errorsIn = (refusal: ApiRefused): Pick<State, "errors" | "problem"> => {
  const named: ReadonlyArray<readonly [field: string, sentence: string | undefined]> = [
    ["url", refusal.about("url")],
    ["label", refusal.about("label") && "Use at most 256 characters and no control characters."],
    ["types", refusal.about("types") && "Use at most 50 types, such as operation.updated.v1."],
    ["after", refusal.about("after")]
  ]
  const errors = named.flatMap(([field, sentence]) => (sentence === undefined ? [] : [{ field, sentence }]))
  return errors.length > 0 ? { errors } : { problem: refusal.detail }
}

const correctable = refusedWith(
  ...(["invalid_request", "quota_exceeded", "conflict", "rate_limited"] as const),
  ...(["idempotency_conflict", "idempotency_in_progress"] as const)
)

const cursorIn = ({ query }: Visit) => {
  const cursor = query.get("cursor")
  return cursor === null ? {} : { cursor }
}

const orgOf = (visit: Visit) => Effect.map(idOrNotFound(parseOrgId(visit.param("org_id"))), (org_id) => ({ org_id }))

const webhookOf = (visit: Visit) =>
  Effect.all({
    org_id: idOrNotFound(parseOrgId(visit.param("org_id"))),
    webhook_id: idOrNotFound(parseWebhookId(visit.param("webhook_id")))
  })

const homeOf = (visit: Visit) => `${visit.home}/settings/webhooks`

const listPage = Effect.fnUntraced(function* (visit: Visit, state: State = { status: 200 }) {
  const params = yield* orgOf(visit)
  const { pagination, webhooks } = yield* calling((api) => api.webhooks.list({ params, query: cursorIn(visit) }))
  return page(
    <WebhooksPage
      frame={visit.frame}
      webhooks={webhooks}
      next_cursor={pagination.next_cursor}
      draft={state.draft ?? { url: "", label: "", types: "" }}
      form_token={newFormToken()}
      errors={state.errors ?? []}
      notice={noticeIn(visit.query)}
      problem={state.problem}
    />,
    { status: state.status }
  )
})

const webhookPage = Effect.fnUntraced(function* (visit: Visit, state: State = { status: 200 }) {
  const params = yield* webhookOf(visit)
  const [{ webhook }, { deliveries, pagination }] = yield* Effect.all(
    [
      calling((api) => api.webhooks.get({ params })),
      calling((api) => api.webhooks.deliveries({ params, query: { limit: shown, ...cursorIn(visit) } }))
    ],
    { concurrency: "unbounded" }
  )
  return page(
    <WebhookPage
      frame={visit.frame}
      webhook={webhook}
      deliveries={deliveries}
      next_cursor={pagination.next_cursor}
      draft={state.draft ?? draftOf(webhook)}
      after={state.after ?? ""}
      form_token={newFormToken()}
      errors={state.errors ?? []}
      notice={noticeIn(visit.query)}
      problem={state.problem}
    />,
    { status: state.status }
  )
})

const secretPage = (visit: Visit, title: string, secret: Redacted.Redacted | null, webhook: WebhookShown) =>
  page(
    <SecretPage
      frame={visit.frame}
      section="settings"
      title={title}
      name="Signing secret"
      secret={secret === null ? null : Redacted.value(secret)}
      explanation={`Give the secret to the receiver at ${webhook.url} now.`}
      back={{ href: `${homeOf(visit)}/${webhook.id}`, label: "Back to the webhook" }}
    />
  )

const create = inOrganization((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const draft = draftIn(form)
    return yield* Effect.gen(function* () {
      const params = yield* orgOf(visit)
      const body = yield* payload(CreateWebhook, bodyOf(draft))
      const { secret, webhook } = yield* callOnce(form)(
        calling((api) => api.webhooks.create({ params, payload: body }))
      )
      return secretPage(visit, "Webhook created", secret, webhook)
    }).pipe(
      Effect.catchIf(correctable, (refusal) => listPage(visit, { status: refusal.status, draft, ...errorsIn(refusal) }))
    )
  })
)

/** A form on the page of a webhook, which returns there. A refusal is shown in the form. */
const changing = (
  notice: NoticeName,
  call: (
    visit: Visit,
    form: Form
  ) => Effect.Effect<unknown, ApiFailure, Effect.Services<ReturnType<typeof webhookPage>>>
) =>
  inOrganization((visit) =>
    Effect.gen(function* () {
      const form = yield* Form.read
      return yield* call(visit, form).pipe(
        Effect.as(seeOther(withNotice(`${homeOf(visit)}/${visit.param("webhook_id")}`, notice))),
        Effect.catchIf(correctable, (refusal) =>
          webhookPage(visit, {
            status: refusal.status,
            ...(form.text("url") === "" ? {} : { draft: draftIn(form) }),
            after: form.text("after"),
            ...errorsIn(refusal)
          })
        )
      )
    })
  )

const change = changing("webhook-changed", (visit, form) =>
  Effect.gen(function* () {
    const params = yield* webhookOf(visit)
    const body = yield* payload(ChangeWebhook, bodyOf(draftIn(form)))
    yield* callOnce(form)(calling((api) => api.webhooks.update({ params, payload: body })))
  })
)

const test = changing("webhook-tested", (visit) =>
  Effect.flatMap(webhookOf(visit), (params) => calling((api) => api.webhooks.test({ params })))
)

const replay = changing("webhook-replayed", (visit, form) =>
  Effect.gen(function* () {
    const params = yield* webhookOf(visit)
    const after = form.text("after").trim()
    const body = yield* payload(ReplayWebhook, after === "" ? {} : { after })
    yield* calling((api) => api.webhooks.replay({ params, payload: body }))
  })
)

const rotate = inOrganization((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const params = yield* webhookOf(visit)
    const { secret, webhook } = yield* callOnce(form)(
      calling((api) => api.webhooks.rotateSecret({ params, payload: {} }))
    )
    return secretPage(visit, "Secret rotated", secret, webhook)
  }).pipe(
    Effect.catchIf(correctable, (refusal) => webhookPage(visit, { status: refusal.status, problem: refusal.detail }))
  )
)

const remove = inOrganization((visit) =>
  Effect.gen(function* () {
    yield* Form.read
    const params = yield* webhookOf(visit)
    yield* calling((api) => api.webhooks.delete({ params }))
    return seeOther(withNotice(homeOf(visit), "webhook-deleted"))
  })
)

const path = "/orgs/:org_id/settings/webhooks"
const webhook = `${path}/:webhook_id` as const

export const webhookRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path, answer: inOrganization((visit) => listPage(visit)) },
  { method: "POST", path, answer: create },
  { method: "GET", path: webhook, answer: inOrganization((visit) => webhookPage(visit)) },
  { method: "POST", path: webhook, answer: change },
  { method: "POST", path: `${webhook}/test`, answer: test },
  { method: "POST", path: `${webhook}/replay`, answer: replay },
  { method: "POST", path: `${webhook}/rotate-secret`, answer: rotate },
  { method: "POST", path: `${webhook}/delete`, answer: remove }
]
