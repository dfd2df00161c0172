/** The form for a sandbox, whose answer shows its password once. */
import { CreateSandbox } from "@narthex/api"
import { Effect, Redacted } from "effect"
import { calling } from "../api/ApiRefusal.ts"
import { callOnce, newFormToken } from "../api/formToken.ts"
import { payload, wholeNumber } from "../api/payload.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import {
  inProject,
  inProjectWith,
  type ProjectVisit,
  propsOf,
  refusedInput,
  visitAgain
} from "../requests/inProject.ts"
import { branchWanted } from "../requests/projectReads.ts"
import { sandboxLifetimes } from "../views/project/lifetimes.ts"
import { NewBranchPage, type NewBranchPageProps } from "../views/project/NewBranch.tsx"
import { PasswordPage } from "../views/project/Password.tsx"
import type { BranchShown } from "../views/records.ts"
import { page, seeOther } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

const newSandboxPage = (
  visit: ProjectVisit,
  branches: ReadonlyArray<BranchShown>,
  state?: Pick<NewBranchPageProps, "draft" | "errors"> & { readonly status: number }
) => {
  const parent = branchWanted(visit.query.get("parent"), visit.project, branches)
  const [{ value: lifetime } = { value: "" }] = sandboxLifetimes
  return page(
    <NewBranchPage
      {...propsOf(visit)}
      kind="sandbox"
      branches={branches}
      draft={state?.draft ?? { name: "", parent, lifetime, endpoint: true, protected: false }}
      errors={state?.errors ?? {}}
      form_token={newFormToken()}
    />,
    { status: state?.status ?? 200 }
  )
}

const create = inProject((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const draft = {
      name: form.text("name"),
      parent: form.text("parent"),
      lifetime: form.text("lifetime"),
      endpoint: true,
      protected: false
    }
    return yield* Effect.gen(function* () {
      const body = yield* payload(CreateSandbox, {
        ...(draft.name === "" ? {} : { name: draft.name }),
        ...(draft.parent === "" ? {} : { parent_id: draft.parent }),
        ttl_seconds: wholeNumber(draft.lifetime)
      })
      const { branch, connection_uri } = yield* callOnce(form)(
        calling((api) => api.sandboxes.create({ params: visit.params, payload: body }))
      )
      return page(
        <PasswordPage
          {...propsOf(visit)}
          branch={branch}
          connection_uri={connection_uri === null ? null : Redacted.value(connection_uri)}
          sentence="The sandbox, its endpoint and this password expire together."
        />
      )
    }).pipe(
      Effect.catchIf(refusedInput, (refusal) => {
        const errors =
          refusal.about("name") === undefined
            ? { form: refusal.detail }
            : { name: "Use a letter first, then letters, digits and _ . / -, at most 63 in all." }
        return Effect.map(visitAgain(visit, ["branches"]), ([again, { branches }]) =>
          newSandboxPage(again, branches, { status: refusal.status, draft, errors })
        )
      })
    )
  })
)

const path = "/orgs/:org_id/projects/:project_id/sandboxes"

export const sandboxRoutes: ReadonlyArray<ConsoleRoute> = [
  {
    method: "GET",
    path: `${path}/new`,
    answer: inProjectWith(["branches"], (visit, { branches }) => Effect.succeed(newSandboxPage(visit, branches)))
  },
  { method: "GET", path, answer: inProject((visit) => Effect.succeed(seeOther(`${visit.here}/branches`))) },
  { method: "POST", path, answer: create }
]
