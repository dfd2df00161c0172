/** API keys: list, create, the page of one, rotate, revoke. */
import { CreateApiKey, parseApiKeyId, parseProjectId, RotateApiKey } from "@narthex/api"
import { Effect, Option, Redacted } from "effect"
import type { ComponentChildren } from "preact"
import { type ApiRefused, calling, idOrNotFound, refusedWith } from "../api/ApiRefusal.ts"
import { callOnce, newFormToken } from "../api/formToken.ts"
import { payload, wholeNumber } from "../api/payload.ts"
import { ConsoleSettings } from "../ConsoleConfig.ts"
import type { FieldError } from "../components/ErrorSummary.tsx"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { noticeIn, withNotice } from "../requests/notices.ts"
import { type Asked, inOrganization, inOrganizationReading, type Visit } from "../requests/Visit.ts"
import { AgentClients } from "../views/AgentClients.tsx"
import { ApiKeyPage } from "../views/ApiKey.tsx"
import { ApiKeysPage, scopeName } from "../views/ApiKeys.tsx"
import { agentKeyDraft, emptyKeyDraft, type KeyDraft, NewApiKeyPage } from "../views/NewApiKey.tsx"
import { SecretPage } from "../views/Secret.tsx"
import { page, seeOther } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

/** The projects to choose from: as many as one call returns. */
const choices = { query: { limit: 1000 } }

/** The newest projects, for the names of scopes; a scope outside of them is shown by its short id. */
const scopeProjects = Effect.map(
  calling((api) => api.projects.list({ query: { limit: 100 } })),
  ({ projects }) => projects
)

const readKeys = Effect.fnUntraced(function* ({ query }: Asked) {
  const cursor = query.get("cursor")
  const { api_keys, pagination } = yield* calling((api) =>
    api.apiKeys.list({ query: cursor === null ? {} : { cursor } })
  )
  const projects = api_keys.some(({ scope }) => scope.type !== "organization") ? yield* scopeProjects : []
  return { api_keys, projects, next_cursor: pagination.next_cursor }
})

const list = inOrganizationReading(readKeys, ({ frame, query }, keys) =>
  Effect.succeed(page(<ApiKeysPage frame={frame} {...keys} notice={noticeIn(query)} />))
)

interface NewState {
  readonly status: number
  readonly draft: KeyDraft
  readonly errors?: ReadonlyArray<FieldError>
  readonly problem?: string
}

/** `?for=agent` begins with the values for an agent. `?project=` offers the branches of that project; a form that is shown again offers them as the first time. */
const newPage = Effect.fnUntraced(function* (visit: Visit, state?: NewState) {
  const wanted = Option.getOrUndefined(parseProjectId(visit.query.get("project") ?? ""))
  const { projects } = yield* calling((api) => api.projects.list(choices))
  const project = projects.find(({ id }) => id === wanted)
  const branches_of =
    project === undefined
      ? null
      : {
          project_id: project.id,
          branches: (yield* calling((api) =>
            api.branches.list({ params: { project_id: project.id }, query: { limit: 1000 } })
          )).branches
        }
  const first = visit.query.get("for") === "agent" ? agentKeyDraft : emptyKeyDraft
  const draft = project === undefined ? first : { ...first, scope: `project:${project.id}` }
  return page(
    <NewApiKeyPage
      frame={visit.frame}
      projects={projects}
      branches_of={branches_of}
      draft={state?.draft ?? draft}
      form_token={newFormToken()}
      errors={state?.errors ?? []}
      problem={state?.problem}
    />,
    { status: state?.status ?? 200 }
  )
})

const errorsIn = (refusal: ApiRefused): Pick<NewState, "errors" | "problem"> => {
  const named: ReadonlyArray<readonly [found: string | undefined, field: string, sentence: string]> = [
    [refusal.about("name"), "name", "Use 1 to 64 characters and no control characters."],
    [refusal.about("capability"), "capability", "Choose one of the capabilities."],
    [
      refusal.about("scope") ?? refusal.about("project_id") ?? refusal.about("branch_id"),
      "scope",
      "Choose the organization, one of its projects or a branch of one."
    ],
    [refusal.about("expires_in_days"), "expires_in_days", "Choose a lifetime of 1 to 3650 days, or none."]
  ]
  const errors = named.flatMap(([found, field, sentence]) => (found === undefined ? [] : [{ field, sentence }]))
  return errors.length > 0 ? { errors } : { problem: refusal.detail }
}

const correctable = refusedWith(
  "invalid_request",
  "conflict",
  "rate_limited",
  "idempotency_conflict",
  "idempotency_in_progress"
)

const secretPage = (
  visit: Visit,
  title: string,
  secret: Redacted.Redacted | null,
  explanation: string,
  more?: ComponentChildren
) =>
  page(
    <SecretPage
      frame={visit.frame}
      section="api-keys"
      title={title}
      name="Secret"
      secret={secret === null ? null : Redacted.value(secret)}
      explanation={explanation}
      more={more}
      back={{ href: `${visit.home}/api-keys`, label: "Back to API keys" }}
    />
  )

/** How clients of agents use the key. The documentation is where browsers, and so agents, reach the API. */
const agentClients = (secret: Redacted.Redacted | null) =>
  Effect.map(ConsoleSettings, ({ docs_url, mcp_url = null }) =>
    secret === null ? undefined : (
      <AgentClients secret={Redacted.value(secret)} api_url={docs_url.replace(/\/docs$/, "")} mcp_url={mcp_url} />
    )
  )

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
      const clients = draft.capability === "agent" ? yield* agentClients(secret) : undefined
      return secretPage(visit, "API key created", secret, `Store the secret of the key ${draft.name} now.`, clients)
    }).pipe(
      Effect.catchIf(correctable, (refusal) => newPage(visit, { status: refusal.status, draft, ...errorsIn(refusal) }))
    )
  })
)

const keyOf = (visit: Visit) =>
  Effect.map(idOrNotFound(parseApiKeyId(visit.param("api_key_id"))), (api_key_id) => ({ api_key_id }))

interface KeyState {
  readonly status: number
  readonly errors?: ReadonlyArray<FieldError>
  readonly problem?: string
}

/** The name of a branch that is gone is left out. */
const scopeWords = Effect.fnUntraced(function* (scope: Parameters<typeof scopeName>[0]) {
  if (scope.type === "organization") return scopeName(scope, [])
  const params = { project_id: scope.project_id }
  const gone = refusedWith("not_found")
  const project = yield* calling((api) => api.projects.get({ params })).pipe(
    Effect.map((found) => [found.project]),
    Effect.catchIf(gone, () => Effect.succeed([]))
  )
  const words = scopeName(scope, project)
  if (scope.type === "project") return words
  return yield* calling((api) => api.branches.get({ params: { ...params, branch_id: scope.branch_id } })).pipe(
    Effect.map(({ branch }) => words.replace("One branch", `Branch ${branch.name}`)),
    Effect.catchIf(gone, () => Effect.succeed(words))
  )
})

const keyPage = Effect.fnUntraced(function* (visit: Visit, state: KeyState = { status: 200 }) {
  const params = yield* keyOf(visit)
  const { api_key } = yield* calling((api) => api.apiKeys.get({ params }))
  return page(
    <ApiKeyPage
      frame={visit.frame}
      api_key={api_key}
      scope={yield* scopeWords(api_key.scope)}
      is_own={api_key.created_by.id === visit.frame.user.id}
      form_token={newFormToken()}
      errors={state.errors ?? []}
      problem={state.problem}
      notice={noticeIn(visit.query)}
    />,
    { status: state.status }
  )
})

const rotate = inOrganization((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const params = yield* keyOf(visit)
    const grace = form.text("grace_seconds")
    const body = yield* payload(RotateApiKey, grace === "" ? {} : { grace_seconds: wholeNumber(grace) })
    const { api_key, secret } = yield* callOnce(form)(calling((api) => api.apiKeys.rotate({ params, payload: body })))
    const old = grace === "" || grace === "0" ? "The old one has ended." : "The old one goes on working for a while."
    return secretPage(visit, "Secret rotated", secret, `Store the new secret of the key ${api_key.name} now. ${old}`)
  }).pipe(
    Effect.catchIf(correctable, (refusal) =>
      keyPage(
        visit,
        refusal.about("grace_seconds") === undefined
          ? { status: refusal.status, problem: refusal.detail }
          : { status: 422, errors: [{ field: "grace_seconds", sentence: "Choose a time of at most a day." }] }
      )
    )
  )
)

const revoke = inOrganization((visit) =>
  Effect.gen(function* () {
    yield* Form.read
    const params = yield* keyOf(visit)
    yield* calling((api) => api.apiKeys.revoke({ params }))
    return seeOther(withNotice(`${visit.home}/api-keys`, "key-revoked"))
  })
)

const path = "/orgs/:org_id/api-keys"
const key = `${path}/:api_key_id` as const

export const apiKeyRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path, answer: list },
  { method: "POST", path, answer: create },
  { method: "GET", path: `${path}/new`, answer: inOrganization((visit) => newPage(visit)) },
  { method: "GET", path: key, answer: inOrganization((visit) => keyPage(visit)) },
  { method: "POST", path: `${key}/rotate`, answer: rotate },
  { method: "POST", path: `${key}/revoke`, answer: revoke }
]
