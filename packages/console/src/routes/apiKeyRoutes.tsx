/** The page of API keys: list, create, revoke. */
import { CreateApiKey, parseApiKeyId } from "@narthex/api"
import { Effect, Redacted } from "effect"
import { type ApiRefused, calling, idOrNotFound, refusedWith } from "../api/ApiRefusal.ts"
import { callOnce, newFormToken } from "../api/formToken.ts"
import { payload, wholeNumber } from "../api/payload.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { noticeIn, withNotice } from "../requests/notices.ts"
import { inOrganization, type Visit } from "../requests/Visit.ts"
import { ApiKeysPage, type ApiKeysPageProps, type KeyDraft } from "../views/ApiKeys.tsx"
import { SecretPage } from "../views/Secret.tsx"
import { page, seeOther } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

const emptyDraft: KeyDraft = { name: "", capability: "read_write", scope: "organization", expires_in_days: "" }

interface KeysPageState extends Pick<ApiKeysPageProps, "draft" | "errors"> {
  readonly status: number
}

const keysPage = Effect.fnUntraced(function* (visit: Visit, state?: KeysPageState) {
  const cursor = visit.query.get("cursor")
  const [{ api_keys, pagination }, { projects }] = yield* Effect.all(
    [
      calling((api) => api.apiKeys.list({ query: cursor === null ? {} : { cursor } })),
      calling((api) => api.projects.list({ query: {} }))
    ],
    { concurrency: "unbounded" }
  )
  return page(
    <ApiKeysPage
      frame={visit.frame}
      api_keys={api_keys}
      projects={projects}
      next_cursor={pagination.next_cursor}
      draft={state?.draft ?? emptyDraft}
      form_token={newFormToken()}
      errors={state?.errors}
      notice={noticeIn(visit.query)}
    />,
    { status: state?.status ?? 200 }
  )
})

const errorsIn = (refusal: ApiRefused): NonNullable<ApiKeysPageProps["errors"]> => {
  const found = {
    name: refusal.about("name") && "Use 1 to 64 characters and no control characters.",
    capability: refusal.about("capability") && "Choose one of the capabilities.",
    scope: (refusal.about("scope") ?? refusal.about("project_id")) && "Choose the organization or one of its projects.",
    expires_in_days:
      refusal.about("expires_in_days") && "Enter a whole number of days from 1 to 3650, or leave the field blank."
  }
  return Object.values(found).some((error) => error !== undefined) ? found : { form: refusal.detail }
}

const correctable = refusedWith("invalid_request", "conflict", "idempotency_conflict", "idempotency_in_progress")

const create = inOrganization((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const draft: KeyDraft = {
      name: form.text("name"),
      capability: form.text("capability"),
      scope: form.text("scope"),
      expires_in_days: form.text("expires_in_days")
    }
    return yield* Effect.gen(function* () {
      const body = yield* payload(CreateApiKey, {
        name: draft.name,
        ...(draft.capability === "" ? {} : { capability: draft.capability }),
        ...(draft.scope === "" ? {} : { scope: draft.scope }),
        ...(draft.expires_in_days === "" ? {} : { expires_in_days: wholeNumber(draft.expires_in_days) })
      })
      const { secret } = yield* callOnce(form)(calling((api) => api.apiKeys.create({ payload: body })))
      return page(
        <SecretPage
          frame={visit.frame}
          section="api-keys"
          title="API key created"
          name="Secret"
          secret={secret === null ? null : Redacted.value(secret)}
          explanation={`Store the secret of the key ${draft.name} now.`}
          back={{ href: `${visit.home}/api-keys`, label: "Back to API keys" }}
        />
      )
    }).pipe(
      Effect.catchIf(correctable, (refusal) =>
        keysPage(visit, { status: refusal.status, draft, errors: errorsIn(refusal) })
      )
    )
  })
)

const revoke = inOrganization((visit) =>
  Effect.gen(function* () {
    const api_key_id = yield* idOrNotFound(parseApiKeyId(visit.param("api_key_id")))
    yield* calling((api) => api.apiKeys.revoke({ params: { api_key_id } }))
    return seeOther(withNotice(`${visit.home}/api-keys`, "key-revoked"))
  })
)

const path = "/orgs/:org_id/api-keys"

export const apiKeyRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path, answer: inOrganization((visit) => keysPage(visit)) },
  { method: "POST", path, answer: create },
  { method: "POST", path: `${path}/:api_key_id/revoke`, answer: revoke }
]
