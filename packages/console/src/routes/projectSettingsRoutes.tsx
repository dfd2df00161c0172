/** The settings of a project: name, note and deletion. */
import { ChangeProject } from "@narthex/api"
import { Effect } from "effect"
import { calling } from "../api/ApiRefusal.ts"
import { payload } from "../api/payload.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import {
  done,
  inProject,
  type ProjectVisit,
  propsOf,
  type Refused,
  refusedInput,
  refusedOrGone,
  shown
} from "../requests/inProject.ts"
import { ProjectSettingsPage, type ProjectSettingsPageProps } from "../views/project/Settings.tsx"
import { page, seeOther } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

type State = Refused & Pick<ProjectSettingsPageProps, "draft" | "errors">

const settingsPage = (visit: ProjectVisit, { draft, errors, ...state }: State = shown) =>
  page(
    <ProjectSettingsPage
      {...propsOf(visit, state)}
      {...(draft === undefined ? {} : { draft })}
      {...(errors === undefined ? {} : { errors })}
    />,
    { status: state.status }
  )

const nameRule = "Use 1 to 128 characters, none of them a control character."
const noteRule = "Use at most 500 characters, none of them a control character."

const rename = inProject((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const draft = { name: form.text("name"), note: form.text("note") }
    return yield* Effect.gen(function* () {
      const body = yield* payload(ChangeProject, draft)
      yield* calling((api) => api.projects.rename({ params: visit.params, payload: body }))
      return done(`${visit.here}/settings`, "project-renamed")
    }).pipe(
      Effect.catchIf(refusedInput, (refusal) => {
        const { code, detail, status } = refusal
        const errors = {
          ...(refusal.about("name") === undefined ? {} : { name: nameRule }),
          ...(refusal.about("note") === undefined ? {} : { note: noteRule })
        }
        return Effect.succeed(
          settingsPage(visit, code === "invalid_request" ? { status, draft, errors } : { status, problem: detail })
        )
      })
    )
  })
)

/** Deletes the project if its name was typed. A project that no longer exists counts as deleted. */
const remove = inProject((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    if (form.text("typed") !== visit.project.name)
      return settingsPage(visit, {
        status: 422,
        problem: `Nothing was deleted. Type the name of the project, ${visit.project.name}, to confirm.`
      })
    const deleted = done(`${visit.home}/projects`, "project-deleted")
    return yield* calling((api) => api.projects.delete({ params: visit.params })).pipe(
      Effect.as(deleted),
      Effect.catchIf(refusedOrGone, ({ detail, status }) =>
        Effect.succeed(status === 404 ? deleted : settingsPage(visit, { status, problem: detail }))
      )
    )
  })
)

const path = "/orgs/:org_id/projects/:project_id"

export const projectSettingsRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path: `${path}/settings`, answer: inProject((visit) => Effect.succeed(settingsPage(visit))) },
  {
    method: "GET",
    path: `${path}/rename`,
    answer: inProject((visit) => Effect.succeed(seeOther(`${visit.here}/settings`)))
  },
  { method: "POST", path: `${path}/rename`, answer: rename },
  { method: "POST", path: `${path}/delete`, answer: remove }
]
