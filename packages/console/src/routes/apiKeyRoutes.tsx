/** API keys: list, create, the page of one, rotate, revoke. */
import { CreateApiKey, parseApiKeyId, parseProjectId, RotateApiKey } from "@narthex/api"
import { Effect, Option, Redacted } from "effect"
import type { ComponentChildren } from "preact"
import { ApiRefused, calling, idOrNotFound, refusedWith } from "../api/ApiRefusal.ts"
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

const otherScope = new ApiRefused({
  status: 422,
  code: "invalid_request",
  detail: "The branch is not in the scope.",
  errors: [{ path: ["scope"], message: "the branch is not in it" }]
})

interface NewState {
  readonly status: number
  readonly draft: KeyDraft
  readonly errors?: ReadonlyArray<FieldError>
  readonly problem?: string
}

/** The form as it was filled in. */
const draftIn = (text: (name: string) => string): KeyDraft => ({
  name: text("name"),
  capability: text("capability"),
  scope: text("scope"),
  branch: text("branch"),
  expires_in_days: text("expires_in_days")
})

/** The draft in the address, where a choice of the scope leaves it. `?for=agent` begins with the values for an agent. */
const draftOf = ({ query }: Visit): KeyDraft => {
  if (query.has("scope")) return draftIn((name) => query.get(name) ?? "")
  return query.get("for") === "agent" ? agentKeyDraft : emptyKeyDraft
}

/** The project of a scope of the form; `undefined`: the scope is the organization. */
const projectIn = (scope: string) =>
  scope.startsWith("project:") ? Option.getOrUndefined(parseProjectId(scope.slice("project:".length))) : undefined

/** A scope that is a project offers its branches. */
const newPage = Effect.fnUntraced(function* (visit: Visit, state?: NewState) {
  const { projects } = yield* calling((api) => api.projects.list(choices))
  const draft = state?.draft ?? draftOf(visit)
  const project_id = projects.find(({ id }) => id === projectIn(draft.scope))?.id
  const branches =
    project_id === undefined
      ? null
      : (yield* calling((api) => api.branches.list({ params: { project_id }, query: { limit: 1000 } }))).branches
  return page(
    <NewApiKeyPage
      frame={visit.frame}
      projects={projects}
      branches={branches}
      draft={draft}
      form_token={newFormToken()}
      errors={state?.errors ?? []}
      problem={state?.problem}
    />,
    { status: state?.status ?? 200 }
  )
})

/** A branch that was chosen before another scope is refused: the key would reach more than the person saw. */
const scopeIn = ({ branch, scope }: KeyDraft) => {
  if (branch === "") return Effect.succeed(scope)
  const project_id = projectIn(scope)
  return project_id === undefined
    ? Effect.fail(otherScope)
    : Effect.succeed({ type: "branch", project_id, branch_id: branch })
}

const errorsIn = (refusal: ApiRefused): Pick<NewState, "errors" | "problem"> => {
  const named: ReadonlyArray<readonly [found: string | undefined, field: string, sentence: string]> = [
    [refusal.about("name"), "name", "Use 1 to 64 characters and no control characters."],
    [refusal.about("capability"), "capability", "Choose one of the capabilities."],
    [
      refusal.about("scope") ?? refusal.about("project_id") ?? refusal.about("branch_id"),
      "scope",
      "Choose the organization, or one of its projects, then one of the branches of that project or all of them."
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
    const draft = draftIn((name) => form.text(name))
    return yield* Effect.gen(function* () {
      const scope = yield* scopeIn(draft)
      const body = yield* payload(CreateApiKey, {
        name: draft.name,
        ...(draft.capability === "" ? {} : { capability: draft.capability }),
        ...(scope === "" ? {} : { scope }),
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
